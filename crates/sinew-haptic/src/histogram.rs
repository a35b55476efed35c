//! A histogram of fixed size with logarithmic bins, for times from 0.1 µs to 10 s. Adding neither allocates nor divides.

/// Bins for each factor of two.
const PER_OCTAVE: usize = 8;
/// Factors of two from the least value.
const OCTAVES: usize = 27;
/// Upper end of the first bin [s].
const LEAST: f64 = 1e-7;

/// A histogram of times with a relative width of bins of an eighth of their octave (at most 12.5 %).
///
/// ```
/// use sinew_haptic::Histogram;
/// let mut times = Histogram::default();
/// (1..=1000).for_each(|k| times.add(1e-6 * f64::from(k)));
/// assert!((times.quantile(0.99) / 990e-6 - 1.0).abs() < 0.13);
/// assert_eq!((times.count(), times.max()), (1000, 1e-3));
/// assert!((times.share_above(500e-6) - 0.5).abs() < 0.07);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bins: [u64; PER_OCTAVE * OCTAVES + 1],
    count: u64,
    sum: f64,
    max: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { bins: [0; PER_OCTAVE * OCTAVES + 1], count: 0, sum: 0.0, max: 0.0 }
    }
}

impl Histogram {
    /// Counts a time [s]; negative ones count as zero, NaN not at all.
    pub fn add(&mut self, seconds: f64) {
        if seconds.is_nan() {
            return;
        }
        let seconds = seconds.max(0.0);
        self.bins[bin(seconds)] += 1;
        self.count += 1;
        self.sum += seconds;
        self.max = self.max.max(seconds);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean [s]; 0 without values.
    pub fn mean(&self) -> f64 {
        if self.count > 0 { self.sum / self.count as f64 } else { 0.0 }
    }

    /// Largest value [s].
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The time that a share of the values does not exceed, from above: the upper end of its bin, at most the maximum [s].
    pub fn quantile(&self, share: f64) -> f64 {
        let wanted = (share.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (k, n) in self.bins.iter().enumerate() {
            seen += n;
            if seen >= wanted {
                return upper(k).min(self.max);
            }
        }
        self.max
    }

    /// Share of the values in bins that begin at or above a time.
    pub fn share_above(&self, seconds: f64) -> f64 {
        let above: u64 = self.bins[(bin(seconds) + 1).min(self.bins.len())..].iter().sum();
        if self.count > 0 { above as f64 / self.count as f64 } else { 0.0 }
    }

    /// Adds all values of another one.
    pub fn merge(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(a, b)| *a += b);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

/// Bin of a time, by exponent and the upper three bits of the mantissa.
fn bin(seconds: f64) -> usize {
    let ratio = seconds * (1.0 / LEAST);
    if !(ratio >= 1.0) {
        return 0;
    }
    let bits = ratio.to_bits();
    let octave = ((bits >> 52) & 0x7ff) as usize - 1023;
    let part = ((bits >> 49) & 7) as usize;
    (1 + octave * PER_OCTAVE + part).min(PER_OCTAVE * OCTAVES)
}

/// Upper end of a bin [s].
fn upper(bin: usize) -> f64 {
    let octave = bin / PER_OCTAVE;
    LEAST * (1_u64 << octave) as f64 * (1.0 + (bin % PER_OCTAVE) as f64 / PER_OCTAVE as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_below_the_upper_end_of_its_bin_and_above_the_one_before() {
        for k in 0..400 {
            let t = 1e-8 * 1.05_f64.powi(k);
            let b = bin(t);
            assert!(t <= upper(b) * (1.0 + 1e-12) || b == PER_OCTAVE * OCTAVES, "{t} in {b}");
            assert!(b == 0 || t >= upper(b - 1) * (1.0 - 1e-12), "{t} in {b}");
        }
    }

    #[test]
    fn nonsense_is_counted_nowhere_or_in_the_first_bin() {
        let mut h = Histogram::default();
        h.add(f64::NAN);
        h.add(-1.0);
        h.add(f64::INFINITY);
        assert_eq!(h.count(), 2);
        assert_eq!(Histogram::default().quantile(0.5), 0.0);
    }
}
