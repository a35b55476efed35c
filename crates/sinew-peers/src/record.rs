//! The result of a run: speed and quality side by side.

use crate::{Scene, Times};

/// A measure of the quality of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Its name in the peers' tables.
    pub name: &'static str,
    /// Value in the unit.
    pub value: f64,
    /// Printed after the value; empty for counts and plain SI units.
    pub unit: &'static str,
}

impl Reading {
    /// A reading.
    pub fn new(name: &'static str, value: impl Into<f64>, unit: &'static str) -> Self {
        Self { name, value: value.into(), unit }
    }
}

/// One variant of a scene, run once.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The scene.
    pub scene: Scene,
    /// The variant of the scene.
    pub variant: String,
    /// Nodes (or rigid bodies), triangles, tetrahedra, constraints.
    pub sizes: [usize; 4],
    /// Step [ms].
    pub h_ms: f64,
    /// Substeps or iterations of a step, as text.
    pub effort: String,
    /// Wall times of the steps.
    pub ms: Times,
    /// Number of timed steps.
    pub steps: usize,
    /// Measures of quality.
    pub readings: Vec<Reading>,
}

impl Record {
    /// A line of the peers' table: `peer,scene,variant,threads,nodes,tris,tets,constraints,h_ms,iters,ms_min,ms_median,ms_p99,"note"`.
    pub fn line(&self) -> String {
        let [nodes, tris, tets, constraints] = self.sizes;
        let readings: Vec<String> =
            self.readings.iter().map(|r| format!("{}={:.5}{}", r.name, r.value, r.unit)).collect();
        format!(
            "sinew-{},{},{},1,{nodes},{tris},{tets},{constraints},{:.3},{},{:.4},{:.4},{:.4},\"{}; steps={}\"",
            env!("CARGO_PKG_VERSION"),
            self.scene.name(),
            self.variant,
            self.h_ms,
            self.effort,
            self.ms.min,
            self.ms.median,
            self.ms.p99,
            readings.join(" "),
            self.steps
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_a_line_of_the_peers_table() {
        let record = Record {
            scene: Scene::S5,
            variant: "stack20".into(),
            sizes: [20, 0, 0, 80],
            h_ms: 1e3 / 60.0,
            effort: "4 substeps".into(),
            ms: Times { min: 0.5, median: 1.0, p99: 2.0 },
            steps: 600,
            readings: vec![Reading::new("pen_max", 0.25, "mm"), Reading::new("inverted", 0, "")],
        };
        let line = record.line();
        assert!(line.ends_with(",S5,stack20,1,20,0,0,80,16.667,4 substeps,0.5000,1.0000,2.0000,\"pen_max=0.25000mm inverted=0.00000; steps=600\""), "{line}");
    }
}
