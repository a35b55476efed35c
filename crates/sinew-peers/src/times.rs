//! Statistics of step times, by the rule of the peers.

/// Wall times of the steps of a run [ms].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// The minimum; often a step before the first contact.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The 99th percentile.
    pub p99: f64,
}

impl Times {
    /// Statistics of a non-empty list [ms].
    pub fn of(ms: &[f64]) -> Self {
        let mut sorted = ms.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self { min: sorted[0], median: quantile(&sorted, 0.5), p99: quantile(&sorted, 0.99) }
    }
}

/// The median of a non-empty list.
pub fn median(ms: &[f64]) -> f64 {
    Times::of(ms).median
}

/// The value at `fraction` of a sorted, non-empty list, by the peers' rule: index ⌊n·fraction⌋.
pub fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let index = (sorted.len() as f64 * fraction) as usize;
    sorted[index.min(sorted.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_follow_the_peers_rule() {
        let ms: Vec<f64> = (0..600).rev().map(f64::from).collect();
        assert_eq!(Times::of(&ms), Times { min: 0.0, median: 300.0, p99: 594.0 });
        assert_eq!(quantile(&[3.0], 0.99), 3.0);
    }
}
