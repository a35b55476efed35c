//! Absurd lengths and bombs: what is allocated stays a small multiple of the file. One test alone in its process, because
//! the counter sees all threads.

mod common;

use common::{open, scene, seal};
use sinew::{Input, Real, RigidBody, Shape, World};
use sinew_wire::{WireError, load, save};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counter;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTER: Counter = Counter;

/// What one accepted load needed at its peak, in bytes; the world it built is part of it.
fn peak_of_load(name: &str, world: &World) -> Vec<u8> {
    let bytes = save(world).unwrap();
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let twin = load(&bytes).unwrap();
    let peak = PEAK.load(Relaxed) - before;
    println!("{name}: {} bytes, peak {peak} ({:.1} x)", bytes.len(), peak as f64 / bytes.len() as f64);
    assert_eq!(twin.hash(), world.hash());
    assert!(peak < 32 * bytes.len(), "{name}: {peak} bytes for a file of {}", bytes.len());
    bytes
}

/// What one refused load needed at its peak, in bytes.
fn peak_of(bytes: &[u8]) -> (usize, WireError) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let error = load(bytes).unwrap_err();
    (PEAK.load(Relaxed) - before, error)
}

fn varint(mut n: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
    out
}

#[test]
fn bombs_cost_no_more_than_their_size() {
    let (world, _) = scene(1).unwrap();
    let (header, sections) = open(&save(&world).unwrap());
    let with = |which: usize, body: Vec<u8>| {
        let mut forged = sections.clone();
        forged[which].1 = body;
        seal(&header, &forged)
    };
    let million = 1_000_000;
    // a rigid body up to its one collider, whose shape is a list of one
    let mut rigid = [vec![1, 1, 1, 0, 0], vec![0; 13 * size_of::<Real>()], vec![1, 1]].concat();
    rigid.push(11);
    let part = [vec![7], varint(0)].concat();
    let count = world.state().columns().count() as u8;
    let column = |size: u64| [&[count, 0, 4][..], b"tick", &[8, 0, 0, 0], &size.to_le_bytes(), &[0; 8]].concat();
    let bombs = [
        ("bodies without end", with(1, varint(u64::from(u32::MAX)))),
        ("a length of 64 bits", with(1, varint(u64::MAX))),
        ("empty slots", with(1, [varint(million), [1, 0].repeat(million as usize), vec![0, 0]].concat())),
        ("complements", with(1, [&rigid[..], &varint(million), &[6].repeat(million as usize)].concat())),
        (
            "empty compounds",
            with(1, [&rigid[..rigid.len() - 2], &varint(million), &part.repeat(million as usize)].concat()),
        ),
        ("node order", with(1, [vec![0, 0], varint(million), vec![0; million as usize]].concat())),
        ("a column without end", with(2, column(u64::MAX))),
        ("a column beyond the file", with(2, column(1 << 40))),
    ];
    for (name, bytes) in bombs {
        let (peak, error) = peak_of(&bytes);
        assert!(!name.contains("column") || error.to_string().contains("claims"), "{name}: {error}");
        let allowed = 32 * bytes.len() + (4 << 20);
        println!("{name}: {} bytes, peak {peak} ({:.1} x), {error}", bytes.len(), peak as f64 / bytes.len() as f64);
        assert!(peak < allowed, "{name}: {peak} bytes for a file of {}", bytes.len());
    }
    // an ordinary pile
    let mut world = World::default();
    for i in 0..1000 {
        let brick = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1));
        world.add_rigid(brick.at([0.0, 0.2 * i as Real, 0.0])).unwrap();
    }
    world.step(&Input::none());
    peak_of_load("pile", &world);
    // honest, but mostly empty slots: each takes 70 bytes in the file and a whole body in the engine
    let mut world = World::default();
    let ids: Vec<_> = (0..5_000).map(|_| world.add_rigid(RigidBody::kinematic()).unwrap()).collect();
    ids.into_iter().for_each(|id| world.remove_body(id).unwrap());
    let mut bytes = peak_of_load("freed slots", &world);
    // a section that claims more than there is
    let at = header.len() + 8;
    bytes[at + 1..at + 9].copy_from_slice(&u64::MAX.to_le_bytes());
    let (peak, error) = peak_of(&bytes);
    assert!(peak < 1 << 16, "{peak} bytes, {error}");
}
