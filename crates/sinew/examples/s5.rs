//! Scratch: S5.
use sinew::*;
use std::time::Instant;
fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().collect();
    let which = args.get(1).map(String::as_str).unwrap_or("stack");
    let threads: u32 = args.get(2).and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut settings = Settings { sleep_time: Real::INFINITY, threads, point_forces: false, ..Settings::default() };
    if let Some(f) = args.get(3).and_then(|s| s.parse().ok()) {
        settings.contact = Stabilization::Soft {
            frequency: f,
            damping_ratio: args.get(4).and_then(|s| s.parse().ok()).unwrap_or(5.0),
        };
    }
    for a in &args {
        if let Some((k, v)) = a.split_once('=') {
            let f: Real = v.parse().unwrap();
            match k {
                "fr" => settings.friction = Stabilization::Soft { frequency: f, damping_ratio: 5.0 },
                "fz" => {
                    if let Stabilization::Soft { damping_ratio, .. } = &mut settings.friction {
                        *damping_ratio = f
                    }
                }
                "fb" => settings.friction = Stabilization::Baumgarte(f),
                "slop" => settings.contact_slop = f,
                "rec" => settings.recycle_distance = f,
                "relax" => settings.relax_sweeps = f as u32,
                "sweeps" => settings.sweeps = f as u32,
                "sub" => settings.substeps = f as u32,
                "lanes" => settings.lanes = f > 0.0,
                "baum" => settings.contact = Stabilization::Baumgarte(f),
                "push" => settings.push_speed = f,
                "margin" => settings.contact_margin = f,
                "warm" => settings.warm_start = f,
                _ => panic!(),
            }
        }
    }
    let mut world = World::new(settings)?;
    world.add_rigid(
        RigidBody::fixed()
            .shape(Shape::cuboid(100.0, 1.0, 100.0))
            .at([0.0, -1.0, 0.0])
            .material(Material::friction(0.5)),
    )?;
    let mut p0: Vec<Vec3> = vec![];
    match which {
        "pyramid" => {
            for r in 0..45 {
                for i in 0..45 - r {
                    p0.push(Vec3::new((i as Real - (44 - r) as Real * 0.5) * 1.1, 0.5 + r as Real, 0.0));
                }
            }
        }
        "pile" => {
            let mut s = 1u32;
            let mut rnd = || {
                s = s.wrapping_mul(1664525).wrapping_add(1013904223);
                (s >> 8) as Real / 16777216.0 - 0.5
            };
            for y in 0..16 {
                for i in 0..8 {
                    for j in 0..8 {
                        let (jx, jz) = (rnd() * 0.2, rnd() * 0.2);
                        let o = (y % 2) as Real * 0.6;
                        p0.push(Vec3::new(
                            (i as Real - 3.5) * 1.2 + jx + o,
                            1.0 + y as Real * 1.2,
                            (j as Real - 3.5) * 1.2 + jz + o,
                        ));
                    }
                }
            }
        }
        _ => {
            for i in 0..20 {
                p0.push(Vec3::new(0.0, 0.5 + i as Real, 0.0));
            }
        }
    }
    let ids: Vec<_> = p0
        .iter()
        .map(|p| {
            world
                .add_rigid(
                    RigidBody::dynamic()
                        .shape(Shape::cuboid(0.5, 0.5, 0.5))
                        .mass(1.0)
                        .at(*p)
                        .material(Material::friction(0.5)),
                )
                .unwrap()
        })
        .collect();
    let mut ms = vec![];
    let mut phases = [0.0; 8];
    let mut fresh = 0;
    for _ in 0..600 {
        let t = Instant::now();
        let r = world.step(&Input::none());
        ms.push(t.elapsed().as_secs_f64() * 1e3);
        for k in 0..8 {
            phases[k] += r.seconds[k];
        }
        fresh += r.counts.fresh_manifolds;
    }
    let (mut drift, mut top): (Real, Real) = (0.0, 0.0);
    for (id, p) in ids.iter().zip(&p0) {
        let x = world.body(*id)?.position();
        drift = drift.max(((x.x - p.x).powi(2) + (x.z - p.z).powi(2)).sqrt());
        top = top.max(x.y);
    }
    ms.sort_by(f64::total_cmp);
    let r = world.report();
    println!(
        "{which} median {:.3} p99 {:.3} drift {drift:.4} top {top:.4} KE {:.6} contacts {} colours {} fresh/step {} pen {:.5} faults {} hash {:x}",
        ms[300],
        ms[594],
        r.energies.kinetic,
        r.counts.contacts,
        r.counts.colours,
        fresh / 600,
        r.penetration,
        r.faults.len(),
        world.hash()
    );
    let mut speeds: Vec<_> = ids
        .iter()
        .map(|id| {
            let b = world.body(*id).unwrap();
            (b.velocity().length(), b.spin().length(), b.position())
        })
        .collect();
    speeds.sort_by(|a, b| b.0.total_cmp(&a.0));
    if which == "pile" {
        println!("{:.3?}\nmoving {} of {}", &speeds[..8], speeds.iter().filter(|s| s.0 > 0.01).count(), speeds.len());
    }
    for (k, p) in Phase::ALL.iter().enumerate() {
        print!("{} {:.3}  ", p.name(), phases[k] / 0.6);
    }
    println!();
    Ok(())
}
