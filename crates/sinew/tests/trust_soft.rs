//! Energy of soft bodies by themselves. Parameters are drawn around those of reported faults, from fixed seeds.

use sinew::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Uniform numbers, the same on all machines.
struct Draws(u32);

impl Draws {
    fn between(&mut self, low: Real, high: Real) -> Real {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (high - low) * ((self.0 >> 8) as Real / 16_777_216.0)
    }
}

/// An explicit solid with a damping of seconds falls freely. Its largest stable step, a difference of large numbers, was 0
/// and counted as no limit: the body exploded. It is integrated implicitly, and the report has the step it would need.
#[test]
fn an_explicit_solid_with_strong_damping_falls_freely() -> Outcome {
    let mut draws = Draws(91);
    for _ in 0..6 {
        let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
        let params = fem::SolidParams {
            youngs_modulus: 2e5 * draws.between(0.3, 3.0),
            poisson_ratio: draws.between(0.1, 0.4),
            stiffness_damping: draws.between(1.0, 20.0),
            integrator: fem::Integrator::Explicit,
            ..fem::SolidParams::default()
        };
        let mesh = TetMesh::cylinder(0.063, 0.19, 3)?;
        let body = SoftBody::new(Geometry::Tets(mesh), SoftModel::Solid(params.clone())).at([0.0, 0.5, 0.0]);
        let body = world.add_soft(body)?;
        let seconds = 1.0;
        for _ in 0..60 {
            let report = world.step(&Input::none());
            assert!(report.faults.is_empty(), "{params:?}");
            assert!(report.soft[0].implicit && report.soft[0].stable_step > 0.0, "{:?}", report.soft[0]);
            assert!(report.soft[0].stable_step < 1e-5, "{:?}", report.soft[0]);
        }
        let body = world.body(body)?;
        let want = 0.5 * body.mass() * (9.81 * seconds * 9.81 * seconds);
        let energy = world.report().energies.kinetic;
        assert!((energy - want).abs() < 1e-3 * want, "{energy} J instead of {want}: {params:?}");
    }
    Ok(())
}
