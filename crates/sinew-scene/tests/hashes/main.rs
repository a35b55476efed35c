//! Every gallery scene still computes the bits that `docs/hashes.json` records. When a change of the physics is meant,
//! `cargo xtask hashes` writes the record again, and the commit says which scenes changed and why.

mod record;

use serde_json::json;

#[test]
fn every_gallery_scene_has_the_hashes_of_the_record() {
    let record = record::read();
    assert_eq!(record.get("ticks"), Some(&json!(record::TICKS)), "docs/hashes.json is missing or of another form");
    let scenes = record[record::PRECISION].as_object().expect("a table of scenes");
    let mut differ = Vec::new();
    let found = record::of_gallery();
    assert_eq!(found.len(), scenes.len(), "the record and the gallery have the same scenes");
    for (name, hashes) in found {
        let hashes = hashes.expect("a gallery scene builds");
        if scenes.get(name) != Some(&json!(hashes)) {
            differ.push(format!("{name}: recorded {}, found {}", json!(scenes.get(name)), json!(hashes)));
        }
    }
    assert!(differ.is_empty(), "hashes differ in {}:\n{}", record::PRECISION, differ.join("\n"));
}
