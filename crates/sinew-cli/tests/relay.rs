//! `sinew relay`: arguments, a packet each way, counters.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

fn sinew() -> Command {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
}

#[test]
fn packets_pass_both_ways_and_are_counted() {
    let target = UdpSocket::bind("127.0.0.1:0").unwrap();
    target.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let to = target.local_addr().unwrap().to_string();
    let mut child = sinew()
        .args(["relay", "127.0.0.1:0", &to, "--delay", "5", "--for", "3"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let listen = first.split_whitespace().nth(1).unwrap().to_string();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    client.send_to(b"question", &listen).unwrap();
    let mut buffer = [0; 16];
    let (length, from) = target.recv_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"question");
    target.send_to(b"answer", from).unwrap();
    let (length, _) = client.recv_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"answer");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(rest[0], "to the target: 1 packets, 0 lost, 0 reordered, 0 doubled");
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_counters_are_json_and_bad_arguments_are_named() {
    let run = |args: &[&str]| sinew().arg("relay").args(args).output().unwrap();
    let output = run(&["127.0.0.1:0", "127.0.0.1:9", "--loss", "0.3", "--for", "1", "--json", "-"]);
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["to_target"]["given"], 0);
    for (args, word) in [
        (&["nowhere", "127.0.0.1:9"][..], "LISTEN"),
        (&["127.0.0.1:0", "127.0.0.1:9", "--loss", "1.5"], "loss"),
        (&["127.0.0.1:0", "127.0.0.1:9", "--loss", "0.9", "--burst", "2"], "burst"),
        (&["127.0.0.1:0", "127.0.0.1:9", "--delay", "100000"], "60000"),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{args:?}");
    }
}
