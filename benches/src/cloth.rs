//! S1: prints all variants of the cloth on both meshes.

use sinew::Phase;
use sinew_peers::Times;
use sinew_peers::cloth::{Mesh, Run, Variant, sheet, substep_text, substeps};

fn print(run: &Run, name: &str) {
    let Times { min, median, p99 } = Times::of(&run.ms);
    println!(
        "{name}: median {median:.3} ms, p99 {p99:.3}, min {min:.3}; stretch at most {:.2} %, nodes {:.4} mm and triangles {:.3} mm deep, ball {:.2} m/s, {} contacts",
        run.stretch * 100.0,
        run.node_depth * 1e3,
        run.face_depth * 1e3,
        run.ball_speed,
        run.contacts
    );
    let n = run.ms.len() as f64;
    let phases: Vec<String> =
        Phase::ALL.iter().zip(run.phases).map(|(p, sum)| format!("{} {:.3}", p.name(), sum / n)).collect();
    println!("    {}", phases.join(", "));
}

/// Number of pairs of faces of the cloth that intersect.
fn crossing(run: &Run) -> usize {
    let (places, triangles) = run.surface();
    sinew_mesh::inspect::crossings(&places, triangles).pairs.len()
}

/// All variants on both meshes, each from `starts` initial positions.
pub fn s1(count: Option<u32>, steps: Option<usize>, pick: &str, (starts, own): (u32, bool)) {
    for mesh in [Mesh::Regular, Mesh::Irregular] {
        for variant in Variant::ALL {
            let [usual, most] = count.map_or(substeps(variant, mesh), |count| [count; 2]);
            // with self-contact, every region of the cloth has impacts: the maximum number of substeps is used
            // throughout
            let substeps = [if own { most } else { usual }, most];
            let name = format!("S1 {} {mesh:?}", variant.name());
            if !name.contains(pick) {
                continue;
            }
            let mut worst = [0.0f64; 3];
            for start in 0..starts {
                let mut run = Run::new(variant, sheet(51, 2.0, mesh), substeps, start, own);
                let before = run.momentum();
                run.steps(steps.unwrap_or(variant.steps()));
                let found = [run.stretch * 100.0, run.node_depth * 1e3, run.face_depth * 1e3];
                worst = std::array::from_fn(|k| worst[k].max(found[k]));
                if starts > 1 {
                    if own {
                        let Times { median, .. } = Times::of(&run.ms);
                        println!(
                            "    start {start}: median {median:.3} ms, stretch {:.2} %, {} pairs of faces cross at the end",
                            found[0],
                            crossing(&run)
                        );
                    }
                    continue;
                }
                print(&run, &format!("{name}, {}", substep_text(substeps)));
                if own {
                    println!("    {} pairs of faces cross at the end", crossing(&run));
                }
                if variant == Variant::Momentum {
                    println!("    momentum {:.7} of {before:.7}", run.momentum());
                }
            }
            if starts > 1 {
                let [stretch, node, face] = worst;
                println!(
                    "{name}, {}, worst of {starts} starts: stretch {stretch:.2} %, nodes {node:.4} mm and triangles {face:.3} mm deep",
                    substep_text(substeps)
                );
            }
        }
    }
}
