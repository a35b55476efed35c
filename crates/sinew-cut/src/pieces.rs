//! Pieces: parts of a body that no longer hang together.

use crate::body::Body;
use crate::join::{find, union};
use crate::{NONE, Point};

/// A connected part of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Its element copies, ascending.
    pub elements: Vec<u32>,
    /// Volume at rest [m³].
    pub volume: f64,
    /// Mean of the centres of its elements by volume, at rest [m]; inside of an element it does not resolve the matter.
    pub centre: Point,
}

impl Body {
    /// The pieces of the body, by their lowest element. Copies that share a node hang together. The time is that of a
    /// pass over the whole body: ask after a cut has left, not in each tick.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut roots: Vec<u32> = (0..self.parts.node_parents.len() as u32).collect();
        let present = |copy: &usize| !self.parts.removed(*copy as u32);
        for copy in (0..self.parts.elements.len()).filter(present) {
            let nodes = self.parts.elements[copy].nodes;
            nodes[1..].iter().for_each(|&node| union(&mut roots, nodes[0], node));
        }
        let mut number = vec![NONE; roots.len()];
        let mut pieces: Vec<Piece> = Vec::new();
        for copy in (0..self.parts.elements.len()).filter(present) {
            let element = &self.parts.elements[copy];
            let root = find(&mut roots, element.nodes[0]) as usize;
            if number[root] == NONE {
                number[root] = pieces.len() as u32;
                pieces.push(Piece { elements: Vec::new(), volume: 0.0, centre: Point::ZERO });
            }
            let piece = &mut pieces[number[root] as usize];
            let volume = self.volume(copy as u32);
            piece.elements.push(copy as u32);
            piece.volume += volume;
            piece.centre += self.mesh.balls[element.parent as usize].0 * volume;
        }
        pieces.iter_mut().for_each(|piece| piece.centre /= piece.volume);
        pieces
    }
}
