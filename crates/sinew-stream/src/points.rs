//! Points of a body in packets, each decodable alone.
//!
//! *Quantised*: least corner and step of the body's box (six f32), then three u16 a point:
//! x = low + n step, step = (high - low)/65535, so that the error is at most half a step, box/131070, beside the
//! rounding of f32. *Float*: three f32 a point, 83 points a packet as in FC 7.6 (absolute instead of displacements, and
//! 16 bytes more for the header of the payload).

use crate::DecodeError;
use crate::bytes::{Reader, put_vector};
use crate::payload::{Header, Kind};

/// Format of points.
///
/// ```
/// use sinew_stream::points::Layout;
/// assert_eq!(Layout::Quantised.packets(2430), 16);
/// assert_eq!(Layout::Float.packets(2430), 30);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// 16 bits an axis on the box of the body.
    #[default]
    Quantised,
    /// f32.
    Float,
}

const CORNERS: usize = 24;

impl Layout {
    /// Most points in a packet.
    #[must_use]
    pub fn capacity(self) -> usize {
        match self {
            Self::Quantised => 156,
            Self::Float => 83,
        }
    }

    /// Packets for a number of points.
    #[must_use]
    pub fn packets(self, points: usize) -> usize {
        points.div_ceil(self.capacity())
    }

    /// Most points that a body may have: packets are counted in 16 bits.
    #[must_use]
    pub fn most_points(self) -> usize {
        self.capacity() * usize::from(u16::MAX)
    }

    fn kind(self) -> Kind {
        match self {
            Self::Quantised => Kind::Quantised,
            Self::Float => Kind::Float,
        }
    }
}

/// The box of a body in whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Grid {
    low: [f32; 3],
    step: [f32; 3],
}

impl Grid {
    /// The box of all finite points. Steps are rounded up, so that the highest point is inside.
    fn around(points: &[[f32; 3]]) -> Self {
        let (mut low, mut high) = ([f32::MAX; 3], [f32::MIN; 3]);
        for point in points {
            for axis in 0..3 {
                if point[axis].is_finite() {
                    low[axis] = low[axis].min(point[axis]);
                    high[axis] = high[axis].max(point[axis]);
                }
            }
        }
        let mut step = [0.0; 3];
        for axis in 0..3 {
            if low[axis] > high[axis] {
                low[axis] = 0.0;
                continue;
            }
            let wide = (f64::from(high[axis]) - f64::from(low[axis])) / 65_535.0;
            let rounded = wide as f32;
            step[axis] = if f64::from(rounded) < wide { rounded.next_up() } else { rounded };
        }
        Self { low, step }
    }

    fn number(&self, point: [f32; 3], axis: usize) -> u16 {
        if self.step[axis] == 0.0 {
            return 0;
        }
        // the cast saturates: what is not finite lies on a face of the box
        ((f64::from(point[axis]) - f64::from(self.low[axis])) / f64::from(self.step[axis])).round() as u16
    }

    fn place(&self, number: u16, axis: usize) -> f32 {
        let place = f64::from(self.low[axis]) + f64::from(number) * f64::from(self.step[axis]);
        // steps are rounded up: the last number may lie beyond the largest f32
        place.min(f64::from(f32::MAX)) as f32
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let grid = Self { low: reader.vector()?, step: reader.vector()? };
        let good = grid.step.iter().all(|step| *step >= 0.0);
        if good { Ok(grid) } else { Err(DecodeError::Value("step of the points is negative")) }
    }
}

/// Appends the packets of a body, and calls `end` after each. `header` has body, revision and tick.
pub fn write(
    layout: Layout,
    header: Header,
    points: &[[f32; 3]],
    out: &mut Vec<u8>,
    mut end: impl FnMut(&mut Vec<u8>),
) {
    let stride = layout.packets(points.len());
    let grid = Grid::around(points);
    for first in 0..stride {
        Header { kind: layout.kind(), first: first as u16, stride: stride as u16, ..header }.write(out);
        let lane = points.iter().skip(first).step_by(stride);
        match layout {
            Layout::Quantised => {
                put_vector(out, grid.low);
                put_vector(out, grid.step);
                for point in lane {
                    for axis in 0..3 {
                        out.extend(grid.number(*point, axis).to_be_bytes());
                    }
                }
            }
            Layout::Float => lane.for_each(|point| put_vector(out, *point)),
        }
        end(out);
    }
}

/// Checks the contents of a packet of points and calls `put` with the number and the place of every point.
///
/// # Errors
/// A length that is not that of whole points, more points than a packet has, or numbers that are not finite: then
/// `put` is not called at all.
pub fn read(header: &Header, contents: &[u8], mut put: impl FnMut(usize, [f32; 3])) -> Result<usize, DecodeError> {
    let (first, stride) = (usize::from(header.first), usize::from(header.stride));
    if header.kind == Kind::Float {
        let (triples, rest) = contents.as_chunks::<12>();
        if !rest.is_empty() || triples.len() > Layout::Float.capacity() {
            return Err(DecodeError::Length);
        }
        for triple in triples {
            Reader::new(triple).vector()?;
        }
        for (at, triple) in triples.iter().enumerate() {
            put(first + at * stride, Reader::new(triple).vector()?);
        }
        return Ok(triples.len());
    }
    let (corners, numbers) = contents.split_at_checked(CORNERS).ok_or(DecodeError::Short)?;
    let grid = Grid::read(&mut Reader::new(corners))?;
    let (triples, rest) = numbers.as_chunks::<6>();
    if !rest.is_empty() || triples.len() > Layout::Quantised.capacity() {
        return Err(DecodeError::Length);
    }
    for (at, [a, b, c, d, e, f]) in triples.iter().enumerate() {
        let numbers = [[*a, *b], [*c, *d], [*e, *f]].map(u16::from_be_bytes);
        put(first + at * stride, [0, 1, 2].map(|axis| grid.place(numbers[axis], axis)));
    }
    Ok(triples.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const HEADER: Header = Header { kind: Kind::Quantised, body: 1, revision: 0, tick: 0, first: 0, stride: 1 };

    fn cloud(count: usize, size: f32, at: f32) -> Vec<[f32; 3]> {
        let mut random = Random::new(count as u64);
        (0..count).map(|_| [0, 1, 2].map(|_| at + size * random.unit() as f32)).collect()
    }

    fn packets(layout: Layout, points: &[[f32; 3]]) -> Vec<Vec<u8>> {
        let (mut out, mut packets) = (Vec::new(), Vec::new());
        write(layout, HEADER, points, &mut out, |out| packets.push(std::mem::take(out)));
        packets
    }

    fn decode(packets: &[Vec<u8>], count: usize) -> Vec<Option<[f32; 3]>> {
        let mut points = vec![None; count];
        for packet in packets {
            let (header, contents) = Header::read(packet).unwrap();
            read(&header, contents, |at, place| points[at] = Some(place)).unwrap();
        }
        points
    }

    #[test]
    fn rt04_the_error_is_at_most_half_a_step() {
        let mut points = cloud(2000, 0.2, 0.0);
        points[0] = [0.0; 3];
        points[1] = [0.2; 3];
        let found = decode(&packets(Layout::Quantised, &points), points.len());
        // box/131070 = 1.53e-6 m; the step is rounded up by one part in 2^23, the result to f32
        let bound = 0.2 / 131_070.0 * (1.0 + f64::from(f32::EPSILON)) + 0.2 * f64::from(f32::EPSILON) / 2.0;
        let mut worst = 0.0f64;
        for (point, found) in points.iter().zip(found) {
            for axis in 0..3 {
                worst = worst.max((f64::from(point[axis]) - f64::from(found.unwrap()[axis])).abs());
            }
        }
        assert!(worst <= bound, "{worst}");
        assert!(worst > 0.95 * 0.2 / 131_070.0, "of 6000 numbers some are near the bound: {worst}");
    }

    #[test]
    fn floats_come_back_exactly_and_83_fit_a_packet() {
        let points = cloud(200, 3.0, -1.0);
        let packets = packets(Layout::Float, &points);
        assert_eq!(packets.len(), 3);
        assert!(packets.iter().all(|packet| packet.len() <= Header::SIZE + 996));
        assert_eq!(decode(&packets, 200), points.iter().copied().map(Some).collect::<Vec<_>>());
        assert_eq!(packets_of(83), [Header::SIZE + 996]);
    }

    fn packets_of(count: usize) -> Vec<usize> {
        packets(Layout::Float, &cloud(count, 1.0, 0.0)).iter().map(Vec::len).collect()
    }

    #[test]
    fn a_lost_packet_thins_the_surface() {
        let points = cloud(2430, 0.2, 0.0);
        let mut packets = packets(Layout::Quantised, &points);
        assert_eq!(packets.len(), 16);
        assert!(packets.iter().all(|packet| packet.len() <= crate::payload::LARGEST));
        packets.remove(5);
        let found = decode(&packets, 2430);
        let lost: Vec<usize> = (0..2430).filter(|&at| found[at].is_none()).collect();
        assert_eq!(lost.len(), 152);
        assert!(lost.windows(2).all(|pair| pair[1] - pair[0] == 16), "no two neighbours are lost");
    }

    #[test]
    fn flat_far_and_bad_points_are_encoded() {
        let flat = vec![[1.0, 2.0, 3.0]; 5];
        assert_eq!(decode(&packets(Layout::Quantised, &flat), 5), vec![Some([1.0, 2.0, 3.0]); 5]);
        let far = [[f32::MIN, 0.0, 0.0], [f32::MAX, 0.0, 1e-38]];
        let found = decode(&packets(Layout::Quantised, &far), 2);
        assert!(found.iter().flatten().flatten().all(|value| value.is_finite()));
        let bad = [[f32::NAN; 3], [1.0; 3], [f32::INFINITY; 3], [2.0; 3]];
        let found = decode(&packets(Layout::Quantised, &bad), 4);
        assert_eq!((found[1], found[3]), (Some([1.0; 3]), Some([2.0; 3])));
        assert!(found.iter().flatten().flatten().all(|value| (1.0..=2.0).contains(value)));
    }

    #[test]
    fn bad_contents_put_nothing() {
        let points = cloud(10, 1.0, 0.0);
        for layout in [Layout::Quantised, Layout::Float] {
            let packet = packets(layout, &points).remove(0);
            let (header, contents) = Header::read(&packet).unwrap();
            let refused = |contents: &[u8]| read(&header, contents, |_, _| panic!("put")).is_err();
            assert!(refused(&contents[..contents.len() - 1]));
            let mut infinite = contents.to_vec();
            infinite[..4].copy_from_slice(&f32::INFINITY.to_be_bytes());
            assert!(refused(&infinite));
            let mut long = contents.to_vec();
            long.resize(contents.len() + 12 * 156, 0);
            assert!(refused(&long));
        }
    }
}
