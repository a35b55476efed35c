//! Which program is whose half, and whether it is there.

use super::peer_names;
use crate::failure::{Failure, unknown};
use sinew_peers::Scene;
use sinew_scene::gallery::near_miss;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A peer as the folder of the benchmarks has it.
#[derive(Debug, PartialEq)]
pub struct Peer {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its program in the folder.
    program: &'static str,
    /// What builds it.
    build: &'static str,
    scenes: &'static [Scene],
}

use Scene::{S1, S2, S4, S5, S6, S7};

/// All that are known.
pub const PEERS: [Peer; 7] = [
    Peer { name: "baseline", program: "baseline/bench_baseline", build: "baseline/build.sh", scenes: &[S4] },
    Peer { name: "jolt", program: "jolt/bench_jolt", build: "jolt/build.sh", scenes: &[S1, S2, S4, S5, S6, S7] },
    Peer { name: "bullet", program: "bullet/bench_bullet", build: "bullet/build.sh", scenes: &Scene::ALL },
    Peer {
        name: "rapier",
        program: "rapier/target/release/bench_rapier",
        build: "'cargo build --release' in rapier",
        scenes: &Scene::ALL,
    },
    Peer { name: "mujoco", program: "mujoco/bench_mujoco.py", build: "setup.sh", scenes: &[S1, S2, S5, S6, S7] },
    Peer { name: "pypbd", program: "pypbd/bench_pypbd.py", build: "setup.sh", scenes: &[S1, S6] },
    Peer { name: "newton", program: "newton/bench_newton.py", build: "setup.sh", scenes: &[S1, S6] },
];

/// Where scripts find their Python.
const PYTHON: &str = "venv/bin/python";

/// The peers of these names; without names all.
pub fn choose(words: &[String]) -> Result<Vec<&'static Peer>, Failure> {
    if words.is_empty() {
        return Ok(PEERS.iter().collect());
    }
    let one = |word: &String| {
        let found = PEERS.iter().find(|p| p.name.eq_ignore_ascii_case(word.trim()));
        let known = format!("peers: {}", peer_names().join(", "));
        found.ok_or_else(|| unknown("peer", word, near_miss(word, peer_names()), &known))
    };
    words.iter().map(one).collect()
}

/// A half that can be run.
#[derive(Debug, PartialEq)]
pub struct Half {
    /// Name of the peer.
    pub name: &'static str,
    words: Vec<PathBuf>,
    folder: Option<PathBuf>,
    scenes: &'static [Scene],
}

/// The halves that are built in the folder, and a line for each that is not.
pub fn built(folder: &Path, peers: &[&'static Peer]) -> (Vec<Half>, Vec<String>) {
    let (mut halves, mut missing) = (Vec::new(), Vec::new());
    for peer in peers {
        let mut words = vec![folder.join(peer.program)];
        if peer.program.ends_with(".py") {
            // not resolved: a virtual environment is found by the path of its Python
            words.insert(0, folder.join(PYTHON));
        }
        match words.iter().find(|w| !w.is_file()) {
            Some(lacking) => {
                let lacking = lacking.strip_prefix(folder).unwrap_or(lacking).display();
                missing.push(format!("{}: not built, there is no {lacking}; run {}", peer.name, peer.build));
            }
            None => {
                let folder = Some(folder.to_owned());
                halves.push(Half { name: peer.name, words, folder, scenes: peer.scenes });
            }
        }
    }
    (halves, missing)
}

impl Half {
    /// This very program.
    pub fn ours() -> Result<Self, Failure> {
        let words = vec![std::env::current_exe()?, "bench".into(), "--half".into()];
        Ok(Self { name: "sinew", words, folder: None, scenes: &Scene::ALL })
    }

    /// True when it has the scene.
    pub fn has(&self, scene: Scene) -> bool {
        self.scenes.contains(&scene)
    }

    /// What to run, on this core.
    pub fn command(&self, scene: Scene, core: Option<usize>) -> Command {
        let mut words: Vec<PathBuf> = Vec::new();
        if let Some(core) = core {
            words.extend(["taskset".into(), "-c".into(), core.to_string().into()]);
        }
        words.extend(self.words.iter().cloned());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(scene.name());
        // one thread each, also where a library would take all
        command.env("OMP_NUM_THREADS", "1");
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_chosen_by_name_or_refused_with_the_near_miss() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            choose(&words).map(|found| found.iter().map(|p| p.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).map(|all| all.len()).ok(), Some(PEERS.len()));
        assert_eq!(names(&["Rapier", "jolt"]).ok(), Some(vec!["rapier", "jolt"]));
        let Err(Failure::Input(message)) = names(&["rapeir"]) else { panic!("taken") };
        assert!(message.contains("did you mean 'rapier'") && message.contains("newton"), "{message}");
    }

    #[test]
    fn what_is_not_built_is_named_with_what_builds_it() {
        let (halves, missing) = built(Path::new("no-such-folder"), &choose(&[]).expect("all"));
        assert_eq!((halves.len(), missing.len()), (0, PEERS.len()));
        assert!(missing[1].contains("jolt/bench_jolt") && missing[1].contains("jolt/build.sh"), "{}", missing[1]);
        assert!(missing[4].contains("venv/bin/python") && missing[4].contains("setup.sh"), "{}", missing[4]);
    }

    #[test]
    fn halves_are_pinned_alike() {
        let words = |half: &Half, core| {
            let command = half.command(Scene::S5, core);
            let all = std::iter::once(command.get_program()).chain(command.get_args());
            all.map(|w| w.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let half = Half { name: "x", words: vec!["p".into(), "q".into()], folder: None, scenes: &Scene::ALL };
        assert_eq!(words(&half, Some(1)), ["taskset", "-c", "1", "p", "q", "S5"]);
        assert_eq!(words(&half, None), ["p", "q", "S5"]);
        let ours = Half::ours().expect("we run");
        assert_eq!(words(&ours, Some(0))[4..], ["bench", "--half", "S5"]);
    }
}
