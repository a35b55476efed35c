//! Springs, pairs and groups of particles that a swept blade crosses.

use crate::Point;
use crate::error::{CutError, finite};
use crate::join::{find, union};
use crate::sweep::Sweep;

/// Numbers of the links (springs, pairs, bonds) that the blade crosses.
///
/// # Errors
///
/// Points that are not finite, links to points that do not exist.
pub fn cut(points: &[Point], links: &[[u32; 2]], sweep: &Sweep) -> Result<Vec<u32>, CutError> {
    finite("point", points)?;
    let mut crossed = Vec::new();
    for (number, link) in links.iter().enumerate() {
        check(number, link, points.len())?;
        let [a, b] = link.map(|k| points[k as usize]);
        if sweep.crossing(a, b).is_some() {
            crossed.push(number as u32);
        }
    }
    Ok(crossed)
}

/// A group (a cluster of shape matching, an oriented neighbourhood) that the blade divides.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupCut {
    /// Its number.
    pub group: u32,
    /// Its members by part, each ascending; a share of a member in the group goes with it.
    pub parts: Vec<Vec<u32>>,
}

/// Groups that the blade divides: two members are in one part if a way between members leads from one to the other that
/// the blade does not cross.
///
/// ```
/// use sinew_cut::{Point, Sweep, link};
/// # fn main() -> Result<(), sinew_cut::CutError> {
/// let points: Vec<Point> = (0..4).map(|k| Point::X * k as f64).collect();
/// let edge = |y: f64| [Point::new(1.5, y, -1.0), Point::new(1.5, y, 1.0)];
/// let (old, new) = (edge(-0.1), edge(0.1));
/// let sweep = Sweep::new(&old, &new)?;
/// assert_eq!(link::cut(&points, &[[0, 1], [1, 2], [0, 3]], &sweep)?, [1, 2]);
/// let cuts = link::divide(&points, &[vec![0, 1], vec![0, 1, 2, 3]], &sweep)?;
/// assert_eq!(cuts, [link::GroupCut { group: 1, parts: vec![vec![0, 1], vec![2, 3]] }]);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// Points that are not finite, members that do not exist.
pub fn divide(points: &[Point], groups: &[Vec<u32>], sweep: &Sweep) -> Result<Vec<GroupCut>, CutError> {
    finite("point", points)?;
    let mut cuts = Vec::new();
    for (group, members) in groups.iter().enumerate() {
        check(group, members, points.len())?;
        let mut roots: Vec<u32> = (0..members.len() as u32).collect();
        for a in 1..members.len() {
            for b in 0..a {
                let free = sweep.crossing(points[members[a] as usize], points[members[b] as usize]).is_none();
                if find(&mut roots, a as u32) != find(&mut roots, b as u32) && free {
                    union(&mut roots, a as u32, b as u32);
                }
            }
        }
        let mut parts: Vec<(u32, Vec<u32>)> = Vec::new();
        for (k, &member) in members.iter().enumerate() {
            let root = find(&mut roots, k as u32);
            match parts.iter_mut().find(|part| part.0 == root) {
                Some(part) => part.1.push(member),
                None => parts.push((root, vec![member])),
            }
        }
        if parts.len() > 1 {
            let sorted = |(_, mut part): (u32, Vec<u32>)| {
                part.sort_unstable();
                part
            };
            cuts.push(GroupCut { group: group as u32, parts: parts.into_iter().map(sorted).collect() });
        }
    }
    Ok(cuts)
}

fn check(element: usize, members: &[u32], nodes: usize) -> Result<(), CutError> {
    match members.iter().find(|&&member| member as usize >= nodes) {
        Some(&node) => Err(CutError::NoSuchNode { element, node, nodes }),
        None => Ok(()),
    }
}
