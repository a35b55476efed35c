//! One binary glTF 2 with an animation: rigid bodies by the translation and rotation of their nodes, the others by one morph
//! target a frame, of which one after the other has the weight 1. Between frames viewers blend straight. Normals are smooth on
//! bodies that bend and broken at the edges of rigid ones; they change with the targets.
//!
//! Bodies that are added while the world runs are left out: a glTF has all its nodes from the start.

use crate::export::Piece;
use crate::export_normals::{creased, smooth};
use crate::failure::Failure;
use serde_json::{Value, json};
use sinew::Vec3;

/// Most frames of a film: its weights grow with the square.
const MAX_FRAMES: usize = 2000;

/// Frames of all pieces that were there at the start.
pub struct Film {
    pieces: Vec<Piece>,
    /// Of the vertices of each piece at the start.
    normals: Vec<Vec<Vec3>>,
    times: Vec<f32>,
    /// Of each piece, frame after frame.
    tracks: Vec<Track>,
}

#[derive(Default)]
struct Track {
    translations: Vec<[f32; 3]>,
    rotations: Vec<[f32; 4]>,
    /// Vertices away from the start, and their normals.
    moves: Vec<Vec<[f32; 3]>>,
    turns: Vec<Vec<[f32; 3]>>,
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f64 build")]
fn triple(v: Vec3) -> [f32; 3] {
    v.to_array().map(|x| x as f32)
}

impl Film {
    /// Of these pieces, as they are at the start.
    pub fn new(mut pieces: Vec<Piece>) -> Self {
        let tracks = pieces.iter().map(|_| Track::default()).collect();
        let mut normals = Vec::new();
        for piece in &mut pieces {
            normals.push(if piece.rigid { creased(&mut piece.mesh) } else { smooth(&piece.mesh) });
        }
        Self { pieces, normals, times: Vec::new(), tracks }
    }

    /// Adds a frame.
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f64 build")]
    pub fn take(&mut self, time: f64, now: &[Piece]) {
        self.times.push(time as f32);
        for ((first, normals), track) in self.pieces.iter().zip(&self.normals).zip(&mut self.tracks) {
            let found = now.iter().find(|p| p.body == first.body);
            // a body that is gone stays where it was last
            if first.rigid {
                let pose = found.map(|p| (triple(p.pose.position), p.pose.rotation.to_array().map(|x| x as f32)));
                let last = track.translations.last().copied().zip(track.rotations.last().copied());
                let (translation, rotation) = pose.or(last).unwrap_or(([0.0; 3], [0.0, 0.0, 0.0, 1.0]));
                track.translations.push(translation);
                track.rotations.push(rotation);
            } else {
                let fits = found.filter(|p| p.mesh.vertices.len() == first.mesh.vertices.len());
                let away = |new: &[Vec3], old: &[Vec3]| new.iter().zip(old).map(|(a, b)| triple(*a - *b)).collect();
                let moved =
                    fits.map(|p| (away(&p.mesh.vertices, &first.mesh.vertices), away(&smooth(&p.mesh), normals)));
                let still = || vec![[0.0; 3]; first.mesh.vertices.len()];
                let last = track.moves.last().cloned().zip(track.turns.last().cloned());
                let (moves, turns) = moved.or(last).unwrap_or_else(|| (still(), still()));
                track.moves.push(moves);
                track.turns.push(turns);
            }
        }
    }

    /// The file.
    pub fn glb(&self) -> Result<Vec<u8>, Failure> {
        if self.times.len() > MAX_FRAMES {
            let reason = format!("{} frames are too many for one glTF: raise --every", self.times.len());
            return Err(Failure::input(reason));
        }
        let mut out = Buffers::default();
        let times = out.add(&self.times, 1, "SCALAR", true);
        let (mut nodes, mut meshes) = (Vec::new(), Vec::new());
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for (k, (piece, track)) in self.pieces.iter().zip(&self.tracks).enumerate() {
            let vertices: Vec<f32> = piece.mesh.vertices.iter().flat_map(|v| triple(*v)).collect();
            let positions = out.vertices(&vertices, true);
            let normals: Vec<f32> = self.normals[k].iter().flat_map(|n| triple(*n)).collect();
            let attributes = json!({ "POSITION": positions, "NORMAL": out.vertices(&normals, false) });
            let mut primitive = json!({ "attributes": attributes, "material": k, "mode": 4 });
            primitive["indices"] = json!(out.indices(&piece.mesh.triangles));
            let mut animate = |path: &str, output: usize| {
                channels.push(json!({ "sampler": samplers.len(), "target": { "node": k, "path": path } }));
                samplers.push(json!({ "input": times, "output": output, "interpolation": "LINEAR" }));
            };
            let mut node = json!({ "name": piece.name, "mesh": k });
            if piece.rigid {
                node["translation"] = json!(track.translations.first().copied().unwrap_or_default());
                node["rotation"] = json!(track.rotations.first().copied().unwrap_or([0.0, 0.0, 0.0, 1.0]));
                animate("translation", out.add(track.translations.as_flattened(), 3, "VEC3", false));
                animate("rotation", out.add(track.rotations.as_flattened(), 4, "VEC4", false));
            } else {
                let targets = track.moves.iter().zip(&track.turns).map(|(moves, turns)| {
                    let positions = out.vertices(moves.as_flattened(), true);
                    json!({ "POSITION": positions, "NORMAL": out.vertices(turns.as_flattened(), false) })
                });
                primitive["targets"] = targets.collect();
                animate("weights", out.add(&one_each(track.moves.len()), 1, "SCALAR", false));
            }
            let mut mesh = json!({ "name": piece.name, "primitives": [primitive] });
            if !piece.rigid {
                mesh["weights"] = json!(vec![0.0; track.moves.len()]);
            }
            meshes.push(mesh);
            nodes.push(node);
        }
        let mut root = json!({
            "asset": { "version": "2.0", "generator": "sinew" },
            "scene": 0,
            "scenes": [{ "nodes": (0..nodes.len()).collect::<Vec<_>>() }],
        });
        // the specification allows no empty lists
        if !nodes.is_empty() {
            root["nodes"] = json!(nodes);
            root["meshes"] = json!(meshes);
            root["materials"] = (0..self.pieces.len()).map(material).collect();
            root["animations"] = json!([{ "name": "run", "samplers": samplers, "channels": channels }]);
        }
        root["bufferViews"] = json!(out.views);
        root["accessors"] = json!(out.accessors);
        root["buffers"] = json!([{ "byteLength": out.bytes.len() }]);
        Ok(pack(&root, out.bytes))
    }
}

/// Rows of weights: in frame k target k has 1 and all others 0.
fn one_each(count: usize) -> Vec<f32> {
    let mut weights = vec![0.0; count * count];
    weights.iter_mut().step_by(count + 1).for_each(|w| *w = 1.0);
    weights
}

fn material(k: usize) -> Value {
    const COLOURS: [[f32; 3]; 6] = [
        [0.77, 0.10, 0.04],
        [0.01, 0.34, 0.32],
        [0.88, 0.47, 0.03],
        [0.05, 0.20, 0.55],
        [0.21, 0.42, 0.06],
        [0.43, 0.08, 0.21],
    ];
    let [r, g, b] = COLOURS[k % COLOURS.len()];
    let metal = json!({ "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6 });
    json!({ "pbrMetallicRoughness": metal, "doubleSided": true })
}

/// The one buffer, its views and accessors.
#[derive(Default)]
struct Buffers {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffers {
    /// Adds numbers; `bounded` ones get the least and largest of each component, as positions and times must.
    fn add(&mut self, numbers: &[f32], width: usize, kind: &str, bounded: bool) -> usize {
        let count = numbers.len() / width;
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes());
        let mut accessor = self.view(bytes, json!({ "componentType": 5126, "count": count, "type": kind }));
        if bounded {
            let over = |start: f32, pick: fn(f32, f32) -> f32| -> Vec<f32> {
                (0..width).map(|c| numbers.iter().skip(c).step_by(width).fold(start, |a, &b| pick(a, b))).collect()
            };
            accessor["min"] = json!(over(f32::INFINITY, f32::min));
            accessor["max"] = json!(over(f32::NEG_INFINITY, f32::max));
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds triples of the vertices.
    fn vertices(&mut self, numbers: &[f32], bounded: bool) -> usize {
        let accessor = self.add(numbers, 3, "VEC3", bounded);
        self.aim(34962);
        accessor
    }

    /// Sets the buffer target of the last view.
    fn aim(&mut self, target: u32) {
        if let Some(view) = self.views.last_mut() {
            view["target"] = json!(target);
        }
    }

    fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let bytes = triangles.as_flattened().iter().flat_map(|k| k.to_le_bytes());
        let head = json!({ "componentType": 5125, "count": 3 * triangles.len(), "type": "SCALAR" });
        let accessor = self.view(bytes, head);
        self.aim(34963);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Appends bytes as a view of their own and names it in the accessor.
    fn view(&mut self, bytes: impl Iterator<Item = u8>, mut accessor: Value) -> Value {
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        accessor["bufferView"] = json!(self.views.len());
        self.views.push(json!({ "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start }));
        accessor
    }
}

/// Header, JSON and binary chunk, each padded to four bytes.
fn pack(root: &Value, mut binary: Vec<u8>) -> Vec<u8> {
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let total = 12 + 8 + text.len() + 8 + binary.len();
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(b"glTF");
    out.extend_from_slice(&2_u32.to_le_bytes());
    out.extend_from_slice(&(total as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", text), (b"BIN\0", binary)] {
        out.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
        out.extend_from_slice(kind);
        out.extend_from_slice(&chunk);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::pieces;
    use sinew::{ElasticMaterial, Input, RigidBody, Shape, SoftBody, TetMesh, World};

    /// Numbers of an accessor.
    fn numbers(root: &Value, binary: &[u8], accessor: &Value) -> Vec<f32> {
        let accessor = &root["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &root["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let at = |key: &str| view[key].as_u64().unwrap() as usize;
        let bytes = &binary[at("byteOffset")..at("byteOffset") + at("byteLength")];
        bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f64 build")]
    fn the_film_has_every_body_where_the_world_had_it() {
        let mut world = World::default();
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
        let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).at([1.0, 0.5, 0.0]).spin([0.0, 0.0, 3.0]);
        let ball = world.add_rigid(ball).unwrap();
        let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1)).unwrap();
        let jelly = SoftBody::corotational(block, ElasticMaterial::new(1e4, 0.3, 1000.0)).at([0.0, 0.2, 0.0]);
        let jelly = world.add_soft(jelly).unwrap();
        let mut film = Film::new(pieces(&world));
        let (mut places, mut corners) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            film.take(world.time(), &pieces(&world));
            places.extend(triple(world.body(ball).unwrap().position()));
            corners.push(triple(world.body(jelly).unwrap().surface_point(3).unwrap()));
            world.step(&Input::none());
        }
        let glb = film.glb().unwrap();
        let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
        let root: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
        let binary = &glb[28 + length..];
        assert_eq!(u32::from_le_bytes(glb[8..12].try_into().unwrap()) as usize, glb.len());
        // the floor has no end: two bodies are left
        assert_eq!(root["nodes"].as_array().unwrap().len(), 2);
        let samplers = &root["animations"][0]["samplers"];
        assert_eq!(numbers(&root, binary, &samplers[0]["output"]), places);
        // start + Σ weight · target, as a viewer adds it up
        let weights = numbers(&root, binary, &samplers[2]["output"]);
        let primitive = &root["meshes"][1]["primitives"][0];
        let start = numbers(&root, binary, &primitive["attributes"]["POSITION"]);
        let targets: Vec<Vec<f32>> =
            primitive["targets"].as_array().unwrap().iter().map(|t| numbers(&root, binary, &t["POSITION"])).collect();
        for (frame, right) in corners.iter().enumerate() {
            for c in 0..3 {
                let moved = |k: usize| weights[frame * 20 + k] * targets[k][9 + c];
                let found = start[9 + c] + (0..20).map(moved).sum::<f32>();
                assert!((found - right[c]).abs() < 1e-6, "{frame}: {found} {right:?}");
            }
        }
        // and our own reader takes the file: the start, both bodies together
        let mesh = sinew_mesh::read_bytes(&glb, sinew_mesh::Format::Gltf, "film.glb").unwrap();
        assert!(!mesh.triangles.is_empty());
    }
}
