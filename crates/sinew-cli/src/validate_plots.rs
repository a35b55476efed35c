//! `sinew validate --plots DIR`: the telling cases as pictures, what was measured beside the law, and one picture of all readings.

use crate::failure::Failure;
use crate::place;
use crate::plot::{Pen, Plot, Scale};
use sinew::{
    Attachment, DistanceSet, ElasticMaterial, Error, Geometry, Input, Particles, RigidBody, Site, SoftBody,
    SurfaceMaterial, Sym3, TetMesh, World, fem,
};
use sinew_scene::validate::tools::{
    G, Slope, ball, block, floor, free_space, num, real, run, sleepless, track_body, vec3, wide,
};
use std::path::Path;

/// Points of a line: more cannot be seen, and the pictures stay small.
const POINTS: usize = 240;

/// Draws one picture.
type Draw = fn() -> Result<Plot, Error>;

/// File names and what is on them.
const PICTURES: [(&str, Draw); 5] = [
    ("slope", slope),
    ("bounce", bounce),
    ("catenary", catenary),
    ("tumbling", tumbling),
    ("hanging-bar", hanging_bar),
];

/// Error as a share of its tolerance, by reading.
pub type Share = (&'static str, f64);

/// Writes all pictures into a folder, which is made if it is not there.
pub fn draw(folder: &Path, shares: &[Share]) -> Result<(), Failure> {
    place::folder(folder)?;
    for (name, picture) in PICTURES {
        save(folder, name, &picture()?)?;
    }
    save(folder, "readings", &readings(shares))
}

fn save(folder: &Path, name: &str, plot: &Plot) -> Result<(), Failure> {
    place::save(&folder.join(format!("{name}.svg")), plot.svg().as_bytes())
}

/// Every n-th of a list.
fn thin<T: Copy>(list: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let every = list.len().div_ceil(POINTS).max(1);
    list.step_by(every).collect()
}

/// All readings in order of size, by group. Exact ones cannot stand on a logarithmic axis and lie at its lower end.
fn readings(shares: &[Share]) -> Plot {
    const LEAST: f64 = 1e-6;
    let mut groups: Vec<&str> = shares.iter().map(|(group, _)| *group).collect();
    groups.sort_unstable();
    groups.dedup();
    let title = "Every reading: error as a share of its tolerance, sorted in each group";
    let mut plot = Plot::new(title, "readings of the group that are at most as far off, %", "error by tolerance, 1");
    for group in groups {
        let own = shares.iter().filter(|(g, share)| *g == group && share.is_finite());
        let mut own: Vec<f64> = own.map(|(_, share)| share.max(LEAST)).collect();
        own.sort_by(f64::total_cmp);
        let count = own.len() as f64;
        let points = own.iter().enumerate().map(|(k, share)| [100.0 * (k + 1) as f64 / count, *share]);
        plot = plot.line(group, points.collect::<Vec<_>>());
    }
    let limit = [[0.0, 1.0], [100.0, 1.0]];
    plot.drawn("limit", limit, Pen::Dashed).scales(Scale::Linear, Scale::Log)
}

/// A block on a slope that grows steeper: sticks below atan μ, then slides with g (sin − μ cos).
fn slope() -> Result<Plot, Error> {
    let mu = 0.5;
    let mut measured = Vec::new();
    for degrees in (0..=60).step_by(4).chain([25, 26, 27]) {
        let mut world = World::new(sleepless())?;
        let slope = Slope::new(f64::from(degrees).to_radians());
        let material = SurfaceMaterial::friction(real(mu));
        slope.ground(&mut world, material)?;
        let id = world.add_rigid(slope.place(block([0.4, 0.1, 0.4], 1.0).material(material), 0.05))?;
        let [way] = track_body(&mut world, id, 1.0, |b| [slope.along(b.position())])?;
        measured.push([f64::from(degrees), way.acceleration()]);
    }
    measured.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let law = (0..=600).map(|k| {
        let angle = 0.1 * f64::from(k);
        let (sin, cos) = angle.to_radians().sin_cos();
        [angle, (G * (sin - mu * cos)).max(0.0)]
    });
    let plot = Plot::new("A block on a slope, friction 0.5 (R01)", "slope, degrees", "acceleration, m/s²");
    Ok(plot.drawn("measured", measured, Pen::Marked).drawn("g (sin θ − μ cos θ)", law, Pen::Dashed))
}

/// A ball that loses a fifth of its speed at each impact.
fn bounce() -> Result<Plot, Error> {
    let (e, r, seconds) = (0.8, 0.05, 4.2);
    let mut world = World::new(sleepless())?;
    let material = SurfaceMaterial::friction(0.5).restitution(real(e));
    floor(&mut world, material)?;
    let id = world.add_rigid(ball(r, 1.0).material(material).at([0.0, real(1.0 + r), 0.0]))?;
    let [height] = track_body(&mut world, id, seconds, |b| [num(b.position().y) - r])?;
    let measured = thin(height.t.iter().zip(&height.y).map(|(t, y)| [*t, *y]).collect::<Vec<_>>().into_iter());
    // arcs: the first begins at its top
    let law = (0..=840).map(|k| {
        let t = seconds * f64::from(k) / 840.0;
        let (mut start, mut up) = ((2.0 / G).sqrt(), e * (2.0 * G).sqrt());
        if t < start {
            return [t, 1.0 - 0.5 * G * t * t];
        }
        while t > start + 2.0 * up / G && up > 1e-3 {
            (start, up) = (start + 2.0 * up / G, e * up);
        }
        let since = t - start;
        [t, (up * since - 0.5 * G * since * since).max(0.0)]
    });
    let plot = Plot::new("A ball falls from 1 m, restitution 0.8 (R05)", "time, s", "height of its lowest point, m");
    Ok(plot.drawn("law", law, Pen::Dashed).line("measured", measured))
}

/// A chain between two nails, beside the catenary of its length.
fn catenary() -> Result<Plot, Error> {
    let (links, length, span, a) = (80_u32, 2.0_f64, 1.5, 0.555_044_f64);
    let mut world = World::new(sleepless())?;
    let deep = (0.25 * length * length - 0.25 * span * span).sqrt();
    let at = |k: u32| {
        let s = 2.0 * f64::from(k) / f64::from(links) - 1.0;
        vec3(0.5 * span * s, deep * (s.abs() - 1.0), 0.0)
    };
    let places = (0..=links).map(at).collect::<Vec<_>>();
    let rope = world.add_particles(Particles::new(places).mass(real(0.1 * length / f64::from(links))).damping(3.0))?;
    world.add_distance_set(DistanceSet::chain(rope, links + 1).pull_only())?;
    for node in [0, links] {
        world.add_attachment(Attachment::anchor(Site::Node { body: rope, node }, None))?;
    }
    run(&mut world, 8.0);
    let measured: Vec<[f64; 2]> = world.body(rope)?.node_positions().iter().map(|x| [num(x.x), num(x.y)]).collect();
    let law = (0..=POINTS).map(|k| {
        let x = span * (k as f64 / POINTS as f64 - 0.5);
        [x, a * ((x / a).cosh() - (0.5 * span / a).cosh())]
    });
    let plot = Plot::new("A chain of 80 links between two nails (C01)", "x, m", "y, m");
    Ok(plot.drawn("measured", measured, Pen::Marked).drawn("a cosh(x/a)", law, Pen::Dashed))
}

/// Intermediate axis theorem: a free body that rotates about its middle axis flips periodically, with the period of Euler's
/// equations.
fn tumbling() -> Result<Plot, Error> {
    let (inertia, seconds) = ([1.0, 2.0, 3.0], 12.0);
    let mut world = World::new(free_space())?;
    let start = [0.01, 4.0, 0.0];
    let id = world.add_rigid(
        RigidBody::dynamic()
            .mass(1.0)
            .inertia(Sym3::diagonal(vec3(inertia[0], inertia[1], inertia[2])))
            .spin(vec3(start[0], start[1], start[2])),
    )?;
    // the spin about the body's own middle axis
    let mut measured = vec![[0.0, start[1]]];
    let dt = num(world.settings().dt);
    for k in 1..=(seconds / dt) as usize {
        world.step(&Input::none());
        let body = world.body(id)?;
        measured.push([k as f64 * dt, num((body.rotation().inverse() * body.spin()).y)]);
    }
    let measured = thin(measured.into_iter());
    let law = thin(euler(inertia, start, seconds).into_iter());
    let plot = Plot::new("A free body spun about its middle axis (R09)", "time, s", "spin about that axis, rad/s");
    Ok(plot.line("measured", measured).drawn("Euler's equations, step 0.1 ms", law, Pen::Dashed))
}

/// Euler's equations by the classical Runge-Kutta method: time and middle component of the spin.
fn euler(i: [f64; 3], start: [f64; 3], seconds: f64) -> Vec<[f64; 2]> {
    let rate = |w: [f64; 3]| {
        [(i[1] - i[2]) / i[0] * w[1] * w[2], (i[2] - i[0]) / i[1] * w[2] * w[0], (i[0] - i[1]) / i[2] * w[0] * w[1]]
    };
    let h = 1e-4;
    let step = |w: [f64; 3], k: [f64; 3], share: f64| [0, 1, 2].map(|j| w[j] + share * h * k[j]);
    let (mut w, mut out) = (start, vec![[0.0, start[1]]]);
    for n in 1..=(seconds / h) as usize {
        let a = rate(w);
        let b = rate(step(w, a, 0.5));
        let c = rate(step(w, b, 0.5));
        let d = rate(step(w, c, 1.0));
        w = [0, 1, 2].map(|j| w[j] + h / 6.0 * (a[j] + 2.0 * b[j] + 2.0 * c[j] + d[j]));
        out.push([n as f64 * h, w[1]]);
    }
    out
}

/// A bar that hangs by its top face under its own weight: u(s) = ρ g (L s − s²/2)/E at the depth s.
fn hanging_bar() -> Result<Plot, Error> {
    let (cells, size, modulus, density) = ([4, 24, 4], [0.1, 1.0, 0.1], 2e5, 1000.0);
    let mesh = TetMesh::block(cells, vec3(size[0], size[1], size[2]))?;
    let rest: Vec<[f64; 3]> = mesh.vertices.iter().map(|x| wide(*x)).collect();
    let top = rest.iter().map(|x| x[1]).fold(f64::MIN, f64::max);
    let held: Vec<u32> = (0..).zip(&rest).filter(|(_, x)| x[1] > top - 1e-4).map(|(node, _)| node).collect();
    let law = (0..=POINTS).map(|k| {
        let s = size[1] * k as f64 / POINTS as f64;
        [s, 1e3 * density * G / modulus * (size[1] * s - 0.5 * s * s)]
    });
    let title = "A bar hangs under its own weight, E 0.2 MPa, Poisson's ratio 0 (E03)";
    let mut plot = Plot::new(title, "depth below the nail, m", "stretch there, mm").drawn("law", law, Pen::Dashed);
    let matter = ElasticMaterial::new(real(modulus), 0.0, real(density));
    let solid = fem::SolidParams {
        youngs_modulus: real(modulus),
        poisson_ratio: 0.0,
        density: real(density),
        law: fem::Law::NeoHookean,
        ..fem::SolidParams::default()
    };
    let bodies = [
        ("corotational", SoftBody::corotational(mesh.clone(), matter)),
        ("Neo-Hooke, four nodes", SoftBody::new(Geometry::Tets(mesh), sinew::SoftModel::Solid(solid))),
    ];
    for (name, body) in bodies {
        let mut world = World::new(sleepless())?;
        let id = world.add_soft(body.pinned(held.clone()).damping(8.0))?;
        run(&mut world, 3.0);
        let now = world.body(id)?.node_positions().to_vec();
        let mut points: Vec<[f64; 2]> =
            rest.iter().zip(&now).map(|(a, b)| [top - a[1], 1e3 * (a[1] - num(b.y))]).collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        plot = plot.drawn(name, layers(&points), Pen::Marked);
    }
    Ok(plot)
}

/// The mean of each layer of nodes.
fn layers(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut out: Vec<([f64; 2], f64)> = Vec::new();
    for p in points {
        match out.last_mut() {
            Some((sum, n)) if (sum[0] / *n - p[0]).abs() < 1e-4 => {
                *sum = [sum[0] + p[0], sum[1] + p[1]];
                *n += 1.0;
            }
            _ => out.push((*p, 1.0)),
        }
    }
    out.into_iter().map(|(sum, n)| [sum[0] / n, sum[1] / n]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_sorted_and_what_is_not_a_number_is_left_out() {
        let plot = readings(&[("rigid", 0.5), ("rigid", 0.0), ("cloth", f64::NAN), ("rigid", 2.0)]);
        let svg = plot.svg();
        assert!(svg.contains(">rigid<") && svg.contains(">limit<"), "{svg}");
        assert!(svg.len() < 20_000);
    }

    #[test]
    fn layers_are_means_by_depth() {
        assert_eq!(layers(&[[0.0, 1.0], [0.0, 3.0], [1.0, 5.0]]), [[0.0, 2.0], [1.0, 5.0]]);
    }

    #[test]
    fn a_spin_about_a_stable_axis_stays() {
        let last = euler([1.0, 2.0, 3.0], [0.0, 4.0, 0.0], 1.0);
        assert!(last.iter().all(|p| (p[1] - 4.0).abs() < 1e-9));
    }
}
