//! The scene as a viewer needs it, and changes of its surfaces: what a cut does.
//!
//! Points and triangles are only appended. A removed triangle keeps its number and is not drawn. So a packet of points
//! of an older revision still belongs to the same points, and a number never means two things.
//!
//! ```text
//! scene:  'SNS1' | revision u32 | length u32, description | bodies u16 | body ...
//! body:   body u16 | points u32 | triangles u32 | triangle ...
//! change: body u16 | tick u32 | born u32 | removed u32 | added u32 | born ... | removed u32 ... | triangle ...
//! born:   parent u32 | parent u32 | weight f32            triangle: 3 corners u32 | flags u8 (1 inner, 2 removed)
//! ```

use crate::bytes::Reader;
use crate::{DecodeError, Error};

/// Most that a receiver keeps of a scene, whatever a sender claims.
///
/// ```
/// let limits = sinew_stream::topology::Limits { points: 10_000, ..Default::default() };
/// assert!(limits.triangles > limits.points);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an encoded scene. Default 32 MiB.
    pub scene_bytes: usize,
    /// Bytes of an encoded change. Default 1 MiB.
    pub change_bytes: usize,
    /// Points of all bodies. Default a million.
    pub points: usize,
    /// Triangles of all bodies. Default two millions.
    pub triangles: usize,
    /// Tools, and apart from them readings. Default 256.
    pub readings: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { scene_bytes: 32 << 20, change_bytes: 1 << 20, points: 1_000_000, triangles: 2_000_000, readings: 256 }
    }
}

/// A triangle of a surface.
///
/// An example is at [`Scene`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triangle {
    /// Numbers of the corners among the points of the body.
    pub corners: [u32; 3],
    /// Exposed by a cut.
    pub inner: bool,
    /// Not drawn any more.
    pub removed: bool,
}

/// Surface of a body: the number of its points and its triangles.
///
/// An example is at [`Scene`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    /// Number of the body.
    pub body: u16,
    /// Number of points.
    pub points: u32,
    /// All triangles ever, the removed ones too.
    pub triangles: Vec<Triangle>,
}

/// A point that a change adds: it starts at (1 - weight) a + weight b.
///
/// An example is at [`Scene`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Born {
    /// A point that exists before this one.
    pub a: u32,
    /// Another, or the same.
    pub b: u32,
    /// Share of `b`, 0 to 1.
    pub weight: f32,
}

/// One change of the surface of one body: a topology event.
///
/// An example is at [`Scene`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Number of the body.
    pub body: u16,
    /// Step of the simulation.
    pub tick: u32,
    /// New points, appended.
    pub born: Vec<Born>,
    /// Numbers of triangles that are not drawn any more.
    pub removed: Vec<u32>,
    /// New triangles, appended.
    pub added: Vec<Triangle>,
}

/// What a viewer must know before it can draw points.
///
/// ```
/// use sinew_stream::topology::{Born, Change, Limits, Scene, Surface, Triangle};
/// let face = Triangle { corners: [0, 1, 2], ..Triangle::default() };
/// let surface = Surface { body: 1, points: 3, triangles: vec![face] };
/// let mut scene = Scene { revision: 0, description: b"{}".to_vec(), surfaces: vec![surface] };
/// // the edge 0-1 is split at its middle
/// let cut = Change {
///     body: 1,
///     born: vec![Born { a: 0, b: 1, weight: 0.5 }],
///     removed: vec![0],
///     added: vec![Triangle { corners: [0, 3, 2], ..face }, Triangle { corners: [3, 1, 2], ..face }],
///     ..Change::default()
/// };
/// scene.apply(&cut, &Limits::default())?;
/// assert_eq!((scene.revision, scene.surfaces[0].points), (1, 4));
/// assert_eq!(Scene::read(&scene.write(), &Limits::default()), Ok(scene));
/// # Ok::<(), sinew_stream::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Number of changes since the start of the stream.
    pub revision: u32,
    /// Anything that the viewer needs beside surfaces, as bytes: the JSON of the viewer's protocol, for instance.
    pub description: Vec<u8>,
    /// Surfaces of deformable bodies, with different numbers.
    pub surfaces: Vec<Surface>,
}

const MAGIC: &[u8; 4] = b"SNS1";
const TRIANGLE: usize = 13;

impl Scene {
    /// Encodes the scene.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.revision.to_be_bytes());
        out.extend((self.description.len() as u32).to_be_bytes());
        out.extend(&self.description);
        out.extend((self.surfaces.len() as u16).to_be_bytes());
        for surface in &self.surfaces {
            out.extend(surface.body.to_be_bytes());
            out.extend(surface.points.to_be_bytes());
            out.extend((surface.triangles.len() as u32).to_be_bytes());
            surface.triangles.iter().for_each(|triangle| put_triangle(&mut out, triangle));
        }
        out
    }

    /// Decodes a scene. Memory grows with the bytes that are there, never with a number that they contain.
    ///
    /// # Errors
    /// Lengths that do not add up, corners beyond the points, bodies twice, sizes beyond the limits.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        if bytes.len() > limits.scene_bytes {
            return Err(DecodeError::Value("scene is larger than the limit"));
        }
        let mut reader = Reader::new(bytes);
        if reader.array()? != *MAGIC {
            return Err(DecodeError::Value("not a scene"));
        }
        let revision = reader.u32()?;
        let length = reader.u32()? as usize;
        let description = reader.take(length)?.to_vec();
        let mut scene = Self { revision, description, surfaces: Vec::new() };
        for _ in 0..reader.u16()? {
            let (body, points, count) = (reader.u16()?, reader.u32()?, reader.u32()? as usize);
            let triangles = read_triangles(&mut reader, count, points)?;
            if scene.surfaces.iter().any(|surface| surface.body == body) {
                return Err(DecodeError::Value("a body is there twice"));
            }
            scene.surfaces.push(Surface { body, points, triangles });
        }
        reader.end()?;
        scene.check_size(limits)?;
        Ok(scene)
    }

    fn check_size(&self, limits: &Limits) -> Result<(), DecodeError> {
        let points: usize = self.surfaces.iter().map(|surface| surface.points as usize).sum();
        let triangles: usize = self.surfaces.iter().map(|surface| surface.triangles.len()).sum();
        if points > limits.points || triangles > limits.triangles {
            return Err(DecodeError::Value("scene has more points or triangles than the limit"));
        }
        Ok(())
    }

    /// Checks a scene of the caller's own.
    ///
    /// # Errors
    /// What a receiver would refuse, with the name of the body.
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        for (at, surface) in self.surfaces.iter().enumerate() {
            let body = surface.body;
            if self.surfaces[..at].iter().any(|other| other.body == body) {
                return Err(Error::new(format!("scene: body {body} is there twice: give each surface its own number")));
            }
            let beyond = |triangle: &&Triangle| triangle.corners.iter().any(|&corner| corner >= surface.points);
            if let Some(triangle) = surface.triangles.iter().find(beyond) {
                let [a, b, c] = triangle.corners;
                let points = surface.points;
                return Err(Error::new(format!("scene: body {body} has {points} points, a triangle {a} {b} {c}")));
            }
        }
        self.check_size(limits).map_err(|error| Error::new(format!("scene: {error}: raise `limits` of both sides")))
    }

    /// The surface of a body.
    #[must_use]
    pub fn surface(&self, body: u16) -> Option<&Surface> {
        self.surfaces.iter().find(|surface| surface.body == body)
    }

    /// Applies a change and counts the revision. On an error nothing changes.
    ///
    /// # Errors
    /// A body, point or triangle that does not exist, or sizes beyond the limits.
    pub fn apply(&mut self, change: &Change, limits: &Limits) -> Result<(), DecodeError> {
        let points: usize = self.surfaces.iter().map(|surface| surface.points as usize).sum();
        let triangles: usize = self.surfaces.iter().map(|surface| surface.triangles.len()).sum();
        if points + change.born.len() > limits.points || triangles + change.added.len() > limits.triangles {
            return Err(DecodeError::Value("scene has more points or triangles than the limit"));
        }
        let known = self.surfaces.iter_mut().find(|surface| surface.body == change.body);
        let surface = known.ok_or(DecodeError::Value("change of a body that does not exist"))?;
        surface.check(change)?;
        for &number in &change.removed {
            surface.triangles[number as usize].removed = true;
        }
        surface.points += change.born.len() as u32;
        surface.triangles.extend(&change.added);
        self.revision = self.revision.wrapping_add(1);
        Ok(())
    }
}

impl Surface {
    fn check(&self, change: &Change) -> Result<(), DecodeError> {
        let end = u64::from(self.points) + change.born.len() as u64;
        let older = |(at, born): (usize, &Born)| {
            let number = u64::from(self.points) + at as u64;
            u64::from(born.a.max(born.b)) < number && (0.0..=1.0).contains(&born.weight)
        };
        if !change.born.iter().enumerate().all(older) {
            return Err(DecodeError::Value("new point without parents"));
        }
        if change.added.iter().flat_map(|triangle| triangle.corners).any(|corner| u64::from(corner) >= end) {
            return Err(DecodeError::Value("corner of a triangle does not exist"));
        }
        if change.removed.iter().any(|&number| number as usize >= self.triangles.len()) {
            return Err(DecodeError::Value("removed triangle does not exist"));
        }
        Ok(())
    }
}

impl Change {
    /// Encodes the change.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut out = self.body.to_be_bytes().to_vec();
        out.extend(self.tick.to_be_bytes());
        for count in [self.born.len(), self.removed.len(), self.added.len()] {
            out.extend((count as u32).to_be_bytes());
        }
        for born in &self.born {
            out.extend(born.a.to_be_bytes());
            out.extend(born.b.to_be_bytes());
            out.extend(born.weight.to_be_bytes());
        }
        self.removed.iter().for_each(|number| out.extend(number.to_be_bytes()));
        self.added.iter().for_each(|triangle| put_triangle(&mut out, triangle));
        out
    }

    /// Decodes a change. Whether its numbers exist is checked when it is applied.
    ///
    /// # Errors
    /// Lengths that do not add up, weights that are not finite.
    pub fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let (body, tick) = (reader.u16()?, reader.u32()?);
        let [born, removed, added] = [reader.u32()?, reader.u32()?, reader.u32()?].map(u64::from);
        if reader.rest().len() as u64 != 12 * born + 4 * removed + TRIANGLE as u64 * added {
            return Err(DecodeError::Length);
        }
        let mut change = Self { body, tick, ..Self::default() };
        for _ in 0..born {
            change.born.push(Born { a: reader.u32()?, b: reader.u32()?, weight: reader.f32()? });
        }
        for _ in 0..removed {
            change.removed.push(reader.u32()?);
        }
        change.added = read_triangles(&mut reader, added as usize, u32::MAX)?;
        Ok(change)
    }
}

fn put_triangle(out: &mut Vec<u8>, triangle: &Triangle) {
    triangle.corners.iter().for_each(|corner| out.extend(corner.to_be_bytes()));
    out.push(u8::from(triangle.inner) | u8::from(triangle.removed) << 1);
}

fn read_triangles(reader: &mut Reader<'_>, count: usize, points: u32) -> Result<Vec<Triangle>, DecodeError> {
    let mut bytes = Reader::new(reader.take(count.checked_mul(TRIANGLE).ok_or(DecodeError::Length)?)?);
    let mut triangles = Vec::with_capacity(count);
    for _ in 0..count {
        let corners = [bytes.u32()?, bytes.u32()?, bytes.u32()?];
        let flags = bytes.u8()?;
        if corners.iter().any(|&corner| corner >= points) || flags > 3 {
            return Err(DecodeError::Value("corner or flags of a triangle do not exist"));
        }
        triangles.push(Triangle { corners, inner: flags & 1 != 0, removed: flags & 2 != 0 });
    }
    Ok(triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip() -> Scene {
        let face = |n: u32| Triangle { corners: [n, n + 1, n + 2], ..Triangle::default() };
        let surface = |body| Surface { body, points: 10, triangles: (0..8).map(face).collect() };
        Scene { revision: 0, description: b"about".to_vec(), surfaces: vec![surface(2), surface(7)] }
    }

    #[test]
    fn a_scene_and_a_change_come_back() {
        let mut scene = strip();
        let change = Change {
            body: 7,
            tick: 90,
            born: vec![Born { a: 3, b: 4, weight: 0.25 }, Born { a: 10, b: 10, weight: 0.0 }],
            removed: vec![2, 2],
            added: vec![Triangle { corners: [10, 11, 0], inner: true, removed: false }],
        };
        assert_eq!(Change::read(&change.write()), Ok(change.clone()));
        scene.apply(&change, &Limits::default()).unwrap();
        assert!(scene.surfaces[1].triangles[2].removed && scene.surfaces[1].triangles[8].inner);
        assert_eq!(scene.surface(7).unwrap().points, 12);
        let bytes = scene.write();
        assert_eq!(Scene::read(&bytes, &Limits::default()), Ok(scene));
        for length in 0..bytes.len() {
            assert!(Scene::read(&bytes[..length], &Limits::default()).is_err());
        }
    }

    #[test]
    fn a_bad_change_changes_nothing() {
        let limits = Limits { points: 21, triangles: 17, ..Limits::default() };
        let good = Change { body: 2, ..Change::default() };
        let corner = |corner| vec![Triangle { corners: [0, 1, corner], ..Triangle::default() }];
        let born = |a, weight| vec![Born { a, b: 0, weight }];
        let bad = [
            Change { body: 3, ..good.clone() },
            Change { added: corner(10), ..good.clone() },
            Change { removed: vec![8], ..good.clone() },
            Change { born: born(10, 0.5), ..good.clone() },
            Change { born: born(1, 1.5), ..good.clone() },
            Change { born: born(1, f32::NAN), ..good.clone() },
            Change { born: vec![Born::default(); 2], ..good.clone() },
            Change { added: vec![Triangle::default(); 2], ..good.clone() },
        ];
        for change in bad {
            let mut scene = strip();
            assert!(scene.apply(&change, &limits).is_err(), "{change:?}");
            assert_eq!(scene, strip());
        }
        let both = Change { born: born(1, 1.0), added: corner(10), ..good };
        strip().apply(&both, &limits).unwrap();
    }

    #[test]
    fn sizes_beyond_the_limits_are_refused_before_memory_is_taken() {
        let limits = Limits { points: 20, ..Limits::default() };
        assert!(Scene::read(&strip().write(), &limits).is_ok());
        let mut bytes = strip().write();
        let points = 4 + 4 + 4 + 5 + 2 + 2;
        bytes[points..points + 4].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(Scene::read(&bytes, &limits).is_err());
        bytes[points + 4..points + 8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(Scene::read(&bytes, &limits), Err(DecodeError::Short));
        assert!(Scene::read(&bytes, &Limits { scene_bytes: 20, ..limits }).is_err());
    }

    #[test]
    fn a_scene_of_the_caller_is_checked_by_name() {
        let mut scene = strip();
        scene.surfaces[1].body = 2;
        assert!(scene.check(&Limits::default()).unwrap_err().to_string().contains("body 2"));
        let mut scene = strip();
        scene.surfaces[0].triangles[1].corners[2] = 10;
        assert!(scene.check(&Limits::default()).unwrap_err().to_string().contains("1 2 10"));
    }
}
