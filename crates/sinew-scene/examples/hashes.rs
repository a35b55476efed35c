//! Writes the state hashes of all gallery scenes in this precision to `docs/hashes.json`; `cargo xtask hashes` runs it for
//! both precisions. `SCENE...` prints the hashes of these scenes and writes nothing.

#[path = "../tests/hashes/record.rs"]
mod record;

use sinew_scene::gallery;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    for name in &names {
        let scene = gallery::find(name).ok_or_else(|| format!("no scene `{name}`: see `sinew scenes`"))?;
        println!("{name} {}", record::of_scene(scene)?.join(" "));
    }
    if names.is_empty() {
        let mut all = Vec::new();
        for (name, hashes) in record::of_gallery() {
            all.push((name, hashes?));
        }
        record::write(&all)?;
        println!("{} scenes in {} written to docs/hashes.json", all.len(), record::PRECISION);
    }
    Ok(())
}
