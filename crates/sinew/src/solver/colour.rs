//! Colouring: rows of one colour share no dynamic body, so they can run in parallel in lanes and threads.
//!
//! First fit in the given order: the result depends on the order alone, so the colours of an island do not depend on
//! the rest of the world.

/// Number of colours that run in parallel; rows without a free colour go to one further colour that is solved serially.
pub(crate) const COLOURS: usize = 63;

/// Storage of the colouring.
#[derive(Clone, Debug, Default)]
pub(crate) struct Colouring {
    used: Vec<u64>,
}

impl Colouring {
    /// Starts with `bodies` bodies.
    pub fn reset(&mut self, bodies: usize) {
        self.used.clear();
        self.used.resize(bodies, 0);
    }

    /// The lowest colour free on both sides (`None`: that side has infinite mass). `COLOURS` means serial execution.
    pub fn pick(&mut self, a: Option<u32>, b: Option<u32>) -> usize {
        self.pick_all([a, b].into_iter().flatten())
    }

    /// The lowest colour that is free on all of these bodies.
    pub fn pick_all(&mut self, sides: impl Iterator<Item = u32> + Clone) -> usize {
        let busy = sides.clone().fold(0, |busy, side| busy | self.used[side as usize]);
        let colour = (!busy).trailing_zeros() as usize;
        if colour >= COLOURS {
            return COLOURS;
        }
        for side in sides {
            self.used[side as usize] |= 1 << colour;
        }
        colour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_of_a_colour_share_a_body() {
        let mut colouring = Colouring::default();
        colouring.reset(50);
        let mut seen: Vec<Vec<u32>> = vec![Vec::new(); COLOURS + 1];
        for k in 0..400u32 {
            let (a, b) = ((k * 7) % 50, (k * 13 + 1) % 50);
            if a == b {
                continue;
            }
            let colour = colouring.pick(Some(a), Some(b));
            assert!(colour < COLOURS);
            assert!(!seen[colour].contains(&a) && !seen[colour].contains(&b));
            seen[colour].extend([a, b]);
        }
    }

    #[test]
    fn a_hub_overflows_into_the_serial_colour() {
        let mut colouring = Colouring::default();
        colouring.reset(100);
        let colours: Vec<_> = (1..80).map(|k| colouring.pick(Some(0), Some(k))).collect();
        assert_eq!(colours[..63], (0..63).collect::<Vec<_>>());
        assert!(colours[63..].iter().all(|&c| c == COLOURS));
    }
}
