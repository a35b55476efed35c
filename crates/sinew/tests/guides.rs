//! The code of the guides in `docs/` is code of the engine, which is compiled and tested.

/// The blocks of a guide in Rust that are not ignored.
fn blocks(guide: &str) -> Vec<String> {
    let (mut all, mut block) = (Vec::new(), None::<Vec<&str>>);
    for line in guide.lines() {
        match (line.trim(), &mut block) {
            ("```rust", None) => block = Some(Vec::new()),
            ("```", Some(lines)) => {
                all.push(lines.join("\n"));
                block = None;
            }
            (code, Some(lines)) => lines.push(code),
            _ => {}
        }
    }
    all
}

#[test]
fn code_of_the_guides_is_code_of_the_engine() {
    let constraint = [include_str!("../src/constraint/pulley.rs"), include_str!("../src/constraint/mod.rs")];
    let body = [include_str!("../src/model/rigid.rs")];
    for (name, guide, files) in [
        ("adding-a-constraint.md", include_str!("../../../docs/adding-a-constraint.md"), &constraint[..]),
        ("adding-a-scene-key.md", include_str!("../../../docs/adding-a-scene-key.md"), &body[..]),
    ] {
        let found = blocks(guide);
        assert!(!found.is_empty(), "{name} has no code");
        let trimmed = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        for block in found {
            assert!(files.iter().any(|file| trimmed(file).contains(&block)), "{name}: not in the engine:\n{block}");
        }
    }
}
