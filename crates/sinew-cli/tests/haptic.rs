//! `sinew haptic` and `sinew device`: virtual time, the same numbers twice, a device by UDP, refusals.

use std::process::{Command, Output, Stdio};

fn sinew() -> Command {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
}

fn run(args: &[&str]) -> Output {
    sinew().args(args).output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_hand_in_virtual_time_feels_the_cube_and_the_same_twice() {
    let args = ["haptic", "probe-cube", "--device", "sim", "--seconds", "1.5", "--virtual", "--json", "-"];
    let [first, second] = [(); 2].map(|()| json(&run(&args)));
    assert_eq!((&first["ticks"], &first["virtual"]), (&1500.into(), &true.into()));
    let tool = &first["tools"][0];
    assert_eq!(first["tools"], second["tools"]);
    let force = tool["force_max_n"].as_f64().unwrap();
    assert!((0.02..2.0).contains(&force), "{tool}");
    // no shock: within the 0.2 N of 500 N/m that moves with 0.4 m/s for a tick
    assert!(tool["largest_change_n"].as_f64().unwrap() < 0.2, "{tool}");
    // only before the second snapshot of a physics of 5 ms: a longer run has no more of them
    let mut short = args;
    short[5] = "0.05";
    let begun = json(&run(&short));
    assert_eq!(tool["stalled_ticks"], begun["tools"][0]["stalled_ticks"]);
    assert!(tool["stalled_ticks"].as_u64().unwrap() <= 5, "{tool}");
}

#[test]
fn a_device_by_udp_moves_a_tool_in_real_time() {
    let address = {
        // a port that was free a moment ago
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap().to_string()
    };
    let udp = format!("probe=udp={address}");
    let looped = sinew()
        .args(["haptic", "probe-cube", "--device", &udp, "--seconds", "4", "--json", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let serve = format!("udp={address}");
    let device = run(&["device", "--serve", &serve, "--seconds", "3", "--stroke", "0.005"]);
    let summary = json(&looped.wait_with_output().unwrap());
    assert!(device.status.success(), "{}", String::from_utf8_lossy(&device.stderr));
    assert!(String::from_utf8_lossy(&device.stdout).contains("answers"));
    assert_eq!(summary["tools"][0]["device"], "udp");
    assert!(summary["ticks"].as_u64().unwrap() > 100, "{summary}");
}

#[test]
fn refusals_name_the_culprit() {
    for (args, word) in [
        (&["haptic", "stack", "--device", "sim"][..], "[tools.NAME]"),
        (&["haptic", "probe-cube", "--device", "prob=sim"], "probe"),
        (&["haptic", "probe-cube", "--device", "phantom"], "sim, udp"),
        (&["haptic", "probe-cube", "--device", "sim", "--device", "sim"], "every tool"),
        (&["haptic", "probe-cube", "--device", "udp", "--virtual"], "--virtual"),
        (&["device", "--serve", "haply"], "udp"),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{args:?}: {:?}", output.stderr);
    }
}
