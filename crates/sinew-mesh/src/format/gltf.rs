//! glTF 2, as JSON or binary; a reader of our own on serde. The crate `gltf` 1.4.1 panics where a primitive refers to a
//! position accessor that does not exist (in its validation), and on a binary header that claims less than 12 bytes.
//!
//! All triangles of the scene are merged in world coordinates. glTF duplicates vertices where normals or texture
//! coordinates differ: those at the same position are merged. Skins, morph targets, sparse and compressed data are not
//! read.

use super::Sibling;
use crate::draft::{Draft, Shape};
use crate::geometry::{bounds, volume};
use crate::inspect::weld;
use crate::mesh::Mesh;
use crate::scan::{Endian, Fault, Parsed, Scan, short};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A short file can instantiate one mesh many times: the total of vertices and indices is limited to this plus one per
/// byte of the file.
const MAX_COPIES: usize = 2_000_000;

/// Maximum number of items of a JSON list: an empty item is three bytes of text and a hundred bytes of memory.
const MAX_ITEMS: usize = 500_000;

/// Extensions that change the geometry data and are not supported.
const FOREIGN: [&str; 3] = ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_mesh_quantization"];

/// Columns of a 4 by 4 matrix without its last row.
type Transform = [[f64; 3]; 4];

const IDENTITY: Transform = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]];

/// The parts of the JSON that define geometry. Names are those of the specification.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Root {
    asset: Asset,
    scene: Option<usize>,
    #[serde(default, deserialize_with = "few")]
    scenes: Vec<Scene>,
    #[serde(default, deserialize_with = "few")]
    nodes: Vec<Node>,
    #[serde(default, deserialize_with = "few")]
    meshes: Vec<Body>,
    #[serde(default, deserialize_with = "few")]
    accessors: Vec<Accessor>,
    #[serde(default, deserialize_with = "few")]
    buffer_views: Vec<BufferView>,
    #[serde(default, deserialize_with = "few")]
    buffers: Vec<Buffer>,
    #[serde(default, deserialize_with = "few")]
    extensions_required: Vec<String>,
}

#[derive(Deserialize)]
struct Asset {
    version: String,
}

#[derive(Deserialize)]
struct Scene {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    children: Vec<usize>,
    mesh: Option<usize>,
    // boxed, because most nodes have few of them
    matrix: Option<Box<[f64; 16]>>,
    translation: Option<Box<[f64; 3]>>,
    rotation: Option<Box<[f64; 4]>>,
    scale: Option<Box<[f64; 3]>>,
}

#[derive(Deserialize)]
struct Body {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: BTreeMap<String, usize>,
    indices: Option<usize>,
    mode: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    count: usize,
    #[serde(rename = "type")]
    kind: String,
    sparse: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferView {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

#[derive(Deserialize)]
struct Buffer {
    uri: Option<String>,
}

/// Deserializes a list with a limited number of items.
fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct Few<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Few<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MAX_ITEMS} items")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = from.next_element()? {
                if items.len() == MAX_ITEMS {
                    return Err(A::Error::invalid_length(MAX_ITEMS + 1, &self));
                }
                items.push(item);
            }
            Ok(items)
        }
    }
    from.deserialize_seq(Few(PhantomData))
}

pub fn read(bytes: &[u8], sibling: Sibling<'_>) -> Parsed<Mesh> {
    let (json, binary) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, &[][..]) };
    let root: Root = serde_json::from_slice(json).map_err(|e| Fault::whole(format!("not the JSON of glTF 2: {e}")))?;
    if !root.asset.version.starts_with("2.") {
        return Err(Fault::whole(format!("glTF version '{}': 2 is read", short(&root.asset.version))));
    }
    if let Some(extension) = root.extensions_required.iter().find(|e| FOREIGN.contains(&e.as_str())) {
        return Err(Fault::whole(format!("it needs {extension}, which is not read; export without compression")));
    }
    let mut buffers = Vec::new();
    let mut fetched = 0;
    for buffer in &root.buffers {
        let bytes = match &buffer.uri {
            Some(uri) => Cow::Owned(fetch(uri, sibling)?),
            None => Cow::Borrowed(binary),
        };
        fetched += if buffer.uri.is_some() { bytes.len() as u64 } else { 0 };
        if fetched > super::MAX_BYTES {
            return Err(Fault::whole(format!("its buffers have more than {} bytes", super::MAX_BYTES)));
        }
        buffers.push(bytes);
    }
    let mut file = File { root: &root, buffers, draft: Draft::default(), spent: 0, limit: MAX_COPIES + bytes.len() };
    file.scene()?;
    weld(&mut file.draft.mesh, 0.0);
    file.draft.finish()
}

/// JSON and bytes of a binary file: a header of 12 bytes, then chunks of length, type and data.
fn chunks(bytes: &[u8]) -> Parsed<(&[u8], &[u8])> {
    let mut scan = Scan::new(bytes);
    scan.take(4, "the mark 'glTF'")?;
    let version = u32::from_le_bytes(scan.bytes(Endian::Little, "the version")?);
    if version != 2 {
        return Err(scan.fault(format!("binary glTF version {version}: 2 is read")));
    }
    scan.take(4, "the length of the file")?;
    let (mut json, mut binary) = (None, None);
    while !scan.rest().is_empty() {
        let length = u32::from_le_bytes(scan.bytes(Endian::Little, "the length of a chunk")?) as usize;
        let kind = scan.take(4, "the kind of a chunk")?;
        let data = scan.take(length, "a chunk")?;
        match kind {
            b"JSON" => json = json.or(Some(data)),
            b"BIN\0" => binary = binary.or(Some(data)),
            _ => {}
        }
    }
    let json = json.ok_or_else(|| scan.fault("there is no JSON chunk"))?;
    Ok((json, binary.unwrap_or(&[])))
}

fn fetch(uri: &str, sibling: Sibling<'_>) -> Parsed<Vec<u8>> {
    if let Some(data) = uri.strip_prefix("data:") {
        let text = data.split_once(";base64,").map(|(_, text)| text);
        let text = text.ok_or_else(|| Fault::whole("a data URI of a buffer is not base64"))?;
        return STANDARD.decode(text).map_err(|e| Fault::whole(format!("a data URI of a buffer: {e}")));
    }
    sibling(uri).map_err(|e| Fault::whole(format!("buffer '{}': {e}", short(uri))))
}

struct File<'a> {
    root: &'a Root,
    buffers: Vec<Cow<'a, [u8]>>,
    draft: Draft,
    /// Vertices and indices so far, and their limit.
    spent: usize,
    limit: usize,
}

/// The item of an index, or an error that names it.
fn get<'a, T>(list: &'a [T], index: usize, what: &str) -> Parsed<&'a T> {
    list.get(index).ok_or_else(|| Fault::whole(format!("{what} {index} is named, but there are {}", list.len())))
}

impl File<'_> {
    /// All nodes of the scene, each once: a node with two parents, or a cycle, is not a tree.
    fn scene(&mut self) -> Parsed<()> {
        let root = self.root;
        let roots = match root.scene.or((!root.scenes.is_empty()).then_some(0)) {
            Some(scene) => get(&root.scenes, scene, "scene")?.nodes.clone(),
            None => orphans(&root.nodes),
        };
        let mut stack: Vec<(usize, Transform)> = roots.into_iter().map(|node| (node, IDENTITY)).collect();
        let mut seen = vec![false; root.nodes.len()];
        while let Some((index, above)) = stack.pop() {
            let node = get(&root.nodes, index, "node")?;
            if std::mem::replace(&mut seen[index], true) {
                return Err(Fault::whole(format!("node {index} is reached twice: nodes must form a tree")));
            }
            let here = product(above, node.transform());
            if let Some(mesh) = node.mesh {
                for primitive in &get(&root.meshes, mesh, "mesh")?.primitives {
                    self.primitive(primitive, here)?;
                }
            }
            stack.extend(node.children.iter().map(|&child| (child, here)));
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: &Primitive, place: Transform) -> Parsed<()> {
        let Some(&positions) = primitive.attributes.get("POSITION") else { return Ok(()) };
        let first = self.draft.mesh.vertices.len() as u32;
        self.spend(positions)?;
        for at in self.items::<12>(positions, FLOAT, "VEC3")? {
            let at = [0, 4, 8].map(|i| f64::from(f32::from_le_bytes([at[i], at[i + 1], at[i + 2], at[i + 3]])));
            self.draft.vertex(apply(place, at)).map_err(Fault::whole)?;
        }
        let count = self.draft.mesh.vertices.len() as u32 - first;
        let order = match primitive.indices {
            Some(accessor) => self.indices(accessor)?,
            None => (0..count).collect(),
        };
        if let Some(index) = order.iter().find(|&&i| i >= count) {
            return Err(Fault::whole(format!("an index is {index}, but the primitive has {count} vertices")));
        }
        let corners: Vec<u32> = order.into_iter().map(|i| first + i).collect();
        let before = self.draft.mesh.triangles.len();
        match primitive.mode.unwrap_or(4) {
            4 => self.draft.mesh.triangles.extend(corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]])),
            5 => self.draft.cell(Shape::Strip, &corners).map_err(Fault::whole)?,
            6 => self.draft.cell(Shape::Polygon, &corners).map_err(Fault::whole)?,
            _ => self.draft.leave_out("lines or points", 1),
        }
        // a reflection inverts the orientation of triangles
        if volume([[0.0; 3], place[0], place[1], place[2]]) < 0.0 {
            self.draft.mesh.triangles[before..].iter_mut().for_each(|t| t.swap(1, 2));
        }
        Ok(())
    }

    /// Adds the number of items of an accessor to the total before it is read.
    fn spend(&mut self, accessor: usize) -> Parsed<()> {
        self.spent = self.spent.saturating_add(get(&self.root.accessors, accessor, "accessor")?.count);
        if self.spent > self.limit {
            return Err(Fault::whole(format!("more than {} vertices and indices, from a file so short", self.limit)));
        }
        Ok(())
    }

    fn indices(&mut self, accessor: usize) -> Parsed<Vec<u32>> {
        self.spend(accessor)?;
        let kind = get(&self.root.accessors, accessor, "accessor")?.component_type;
        Ok(match kind {
            5121 => self.items::<1>(accessor, kind, "SCALAR")?.into_iter().map(|b| b[0].into()).collect(),
            5123 => {
                self.items::<2>(accessor, kind, "SCALAR")?.into_iter().map(|b| u16::from_le_bytes(b).into()).collect()
            }
            5125 => self.items::<4>(accessor, kind, "SCALAR")?.into_iter().map(u32::from_le_bytes).collect(),
            _ => return Err(Fault::whole(format!("accessor {accessor}: indices of type {kind} are not read"))),
        })
    }

    /// The items of an accessor, N bytes each.
    fn items<const N: usize>(&self, index: usize, component: u32, kind: &str) -> Parsed<Vec<[u8; N]>> {
        let accessor = get(&self.root.accessors, index, "accessor")?;
        let wrong = |what: &str| Fault::whole(format!("accessor {index}: {what}"));
        if accessor.component_type != component || accessor.kind != kind {
            return Err(wrong(&format!(
                "expected type {component} {kind}, found {} {}",
                accessor.component_type,
                short(&accessor.kind)
            )));
        }
        if accessor.sparse.is_some() {
            return Err(wrong("sparse accessors are not read"));
        }
        let view = accessor.buffer_view.ok_or_else(|| wrong("it has no buffer view"))?;
        let view = get(&self.root.buffer_views, view, "buffer view")?;
        let bytes = piece(get(&self.buffers, view.buffer, "buffer")?, view.byte_offset, Some(view.byte_length));
        let bytes = bytes.ok_or_else(|| wrong("its buffer view reaches beyond the buffer"))?;
        let stride = view.byte_stride.unwrap_or(N).max(N);
        // the last item needs no padding after it
        let size = accessor.count.checked_sub(1).map_or(Some(0), |last| stride.checked_mul(last)?.checked_add(N));
        let bytes =
            piece(bytes, accessor.byte_offset, size).ok_or_else(|| wrong("it reaches beyond its buffer view"))?;
        let items = bytes.chunks(stride).filter_map(|chunk| chunk.get(..N));
        Ok(items.map(|item| std::array::from_fn(|i| item[i])).collect())
    }
}

/// The component type of floats.
const FLOAT: u32 = 5126;

fn piece(bytes: &[u8], from: usize, size: Option<usize>) -> Option<&[u8]> {
    bytes.get(from..from.checked_add(size?)?)
}

/// Nodes without a parent.
fn orphans(nodes: &[Node]) -> Vec<usize> {
    let mut held = vec![false; nodes.len()];
    for &child in nodes.iter().flat_map(|node| &node.children) {
        if let Some(held) = held.get_mut(child) {
            *held = true;
        }
    }
    (0..nodes.len()).filter(|&i| !held[i]).collect()
}

impl Node {
    fn transform(&self) -> Transform {
        if let Some(m) = self.matrix.as_deref() {
            return [0, 4, 8, 12].map(|c| [m[c], m[c + 1], m[c + 2]]);
        }
        let [x, y, z, w] = self.rotation.as_deref().copied().unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let axes = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)],
            [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)],
            [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)],
        ];
        let scale = self.scale.as_deref().copied().unwrap_or([1.0; 3]);
        let [a, b, c]: [[f64; 3]; 3] = std::array::from_fn(|i| axes[i].map(|e| e * scale[i]));
        [a, b, c, self.translation.as_deref().copied().unwrap_or([0.0; 3])]
    }
}

fn turn(m: Transform, p: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| m[0][i] * p[0] + m[1][i] * p[1] + m[2][i] * p[2])
}

fn apply(m: Transform, p: [f64; 3]) -> [f64; 3] {
    let p = turn(m, p);
    std::array::from_fn(|i| p[i] + m[3][i])
}

fn product(a: Transform, b: Transform) -> Transform {
    [turn(a, b[0]), turn(a, b[1]), turn(a, b[2]), apply(a, b[3])]
}

/// The JSON, and the bytes of its only buffer.
fn parts(mesh: &Mesh, uri: impl Fn(&[u8]) -> Option<String>) -> Result<(Vec<u8>, Vec<u8>), String> {
    if mesh.triangles.is_empty() {
        return Err("the mesh has no triangles, and glTF holds surfaces only".to_owned());
    }
    let mut bytes: Vec<u8> = mesh.vertices.iter().flatten().flat_map(|x| (*x as f32).to_le_bytes()).collect();
    let split = bytes.len();
    bytes.extend(mesh.triangles.iter().flatten().flat_map(|i| i.to_le_bytes()));
    let [low, high] = bounds(&mesh.vertices).unwrap_or_default().map(|p| p.map(|x| x as f32));
    let mut buffer = json!({ "byteLength": bytes.len() });
    if let Some(uri) = uri(&bytes) {
        buffer["uri"] = uri.into();
    }
    let points = json!({
        "bufferView": 0, "componentType": FLOAT, "count": mesh.vertices.len(), "type": "VEC3", "min": low, "max": high,
    });
    let corners =
        json!({ "bufferView": 1, "componentType": 5125, "count": 3 * mesh.triangles.len(), "type": "SCALAR" });
    let text = json!({
        "asset": { "version": "2.0", "generator": "sinew" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "buffers": [buffer],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": split, "target": 34962 },
            { "buffer": 0, "byteOffset": split, "byteLength": bytes.len() - split, "target": 34963 },
        ],
        "accessors": [points, corners],
    });
    Ok((text.to_string().into_bytes(), bytes))
}

/// One JSON file with an embedded buffer.
pub fn write_json(mesh: &Mesh) -> Result<Vec<u8>, String> {
    let uri = |bytes: &[u8]| Some(format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes)));
    parts(mesh, uri).map(|(json, _)| json)
}

/// One binary file.
pub fn write_glb(mesh: &Mesh) -> Result<Vec<u8>, String> {
    let (mut json, bin) = parts(mesh, |_| None)?;
    // chunks are padded to multiples of four bytes; points and indices need no padding
    json.resize(json.len().next_multiple_of(4), b' ');
    let word = |n: usize| u32::try_from(n).map_err(|_| "more than 4 GiB, which binary glTF cannot hold".to_owned());
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend(word(28 + json.len() + bin.len())?.to_le_bytes());
    for (kind, data) in [(b"JSON", json), (b"BIN\0", bin)] {
        out.extend(word(data.len())?.to_le_bytes());
        out.extend(kind);
        out.extend(data);
    }
    Ok(out)
}
