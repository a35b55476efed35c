//! TOML against an independent reader of the same language, the `toml` crate.

use super::super::tree::Entry;
use super::*;
use toml::de::{DeTable, DeValue};

fn oracle(text: &str) -> Option<Value> {
    fn table(table: DeTable<'_>) -> Option<Value> {
        let entry = |(key, value): (toml::Spanned<std::borrow::Cow<'_, str>>, toml::Spanned<DeValue<'_>>)| {
            Some(Entry::new(key.into_inner().into_owned(), node(value.into_inner())?))
        };
        Some(Value::Table(table.into_iter().map(entry).collect::<Option<Vec<_>>>()?.into()))
    }
    fn node(value: DeValue<'_>) -> Option<Value> {
        Some(match value {
            DeValue::String(text) => Value::text(text.into_owned()),
            DeValue::Boolean(yes) => Value::Bool(yes),
            DeValue::Integer(n) => Value::Int(i64::from_str_radix(&n.as_str().replace('_', ""), n.radix()).ok()?),
            DeValue::Float(n) => Value::Float(n.as_str().replace('_', "").parse().ok()?),
            DeValue::Datetime(_) => return None,
            DeValue::Array(items) => {
                let items: Option<Vec<Value>> = items.into_iter().map(|item| node(item.into_inner())).collect();
                Value::list(items?)
            }
            DeValue::Table(inner) => table(inner)?,
        })
    }
    table(DeTable::parse(text).ok()?.into_inner())
}

/// A value without places, and with its tables sorted as those of the oracle are.
fn bare(value: &Value) -> String {
    match value {
        Value::List(items) => format!("[{}]", items.iter().map(|n| bare(&n.value)).collect::<Vec<_>>().join(",")),
        Value::Table(entries) => {
            let mut all: Vec<String> = entries.iter().map(|e| format!("{:?}={}", e.key, bare(&e.node.value))).collect();
            all.sort();
            format!("{{{}}}", all.join(","))
        }
        other => format!("{other:?}"),
    }
}

fn agree(text: &str) {
    let ours = parse(text, 0).ok().map(|node| bare(&node.value));
    assert_eq!(ours, oracle(text).map(|value| bare(&value)), "{text:?}");
}

#[test]
fn every_scene_of_the_repository_is_read_as_by_another_reader() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("scenes").flatten() {
        if entry.path().extension().is_some_and(|e| e == "toml") {
            agree(&std::fs::read_to_string(entry.path()).expect("a scene"));
            count += 1;
        }
    }
    assert!(count > 10);
}

#[test]
fn the_corners_of_the_language_are_as_another_reader_has_them() {
    for text in CORNERS {
        agree(text);
    }
}

#[test]
fn made_up_text_is_taken_or_refused_as_by_another_reader() {
    let pieces: Vec<&str> = PIECES.split('|').collect();
    let mut seed = 1_u64;
    let mut next = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    for _ in 0..100_000 {
        let text: String = (0..=next(9)).map(|_| pieces[next(pieces.len())]).collect();
        agree(&text);
    }
}

#[test]
fn a_long_list_is_counted_before_it_is_read_on() {
    let rest = r##"[1, 'a,]', "\",", """,]"""], # 1, 2"##;
    let long = format!("{}{rest}\n {{b=1, c=2}}, ]", "0, ".repeat(1000));
    assert_eq!(Toml { text: &long, at: 0, file: 0 }.items_left(), 1002);
    assert_eq!(Toml { text: &",".repeat(1000), at: 0, file: 0 }.items_left(), 0);
    agree(&format!("a=[{long}"));
}

#[test]
fn nesting_has_an_end_whatever_makes_it() {
    let deep = |n: usize| {
        let way = "a.".repeat(n - 1);
        [format!("a={}{}", "[".repeat(n), "]".repeat(n)), format!("{way}a=1"), format!("[{way}a]")]
    };
    for text in deep(DEPTH) {
        assert!(parse(&text, 0).is_ok(), "{text}");
    }
    let both = format!("[{}a]\n{}a=[[[[1]]]]\n", "a.".repeat(40), "b.".repeat(30));
    for text in deep(100_000).into_iter().chain([both]) {
        assert!(parse(&text, 0).expect_err("too deep")[0].1.contains("nested deeper than 64"));
    }
}

#[test]
fn a_value_knows_where_it_stands_and_a_table_where_its_header_is() {
    let root = parse("[bodies.ball]\nmass = 2 # kg\n", 3).expect("a body");
    let ball = root.get("bodies").and_then(|n| n.get("ball")).expect("a ball");
    let mass = ball.get("mass").expect("a mass");
    assert_eq!((ball.span.file(), ball.span.start(), ball.span.end()), (3, 0, 13));
    assert_eq!((mass.span.start(), mass.span.end()), (21, 22));
    let value = parse_value("[1, 2]", 4, 10).expect("a list");
    assert_eq!((value.span.file(), value.span.start(), value.span.end()), (4, 10, 16));
}

const PIECES: &str = concat!(
    "a|b|a.b|a . c|\"a\"|'b'|=| = |\n|\n|\r\n|[|]|[[|]]|{|}|,|, |1|-2|0|1.5|1e3|0x1f|1_0|true|inf|\"t\"|'t'|",
    "\"\"\"m\n\"\"\"|'''m'''|# c| |\t|.|a=1\n|[a]\n|[a.b]\n|[[a]]\n|a.b=2\n|b={a=1}\n|c=[1,2]\n|\\|é"
);

#[rustfmt::skip]
const CORNERS: &[&str] = &[
    "", "\u{feff}a=1", "a=1", "a=1\r\n", "a=1\rb=2", "a=1 b=2", "a", "a=", "=1", "a=1 # c\u{1}", "a=1#c",
    // keys
    "a.b.c=1\na.b.d=2", "a.b=1\na=2", "a=1\na.b=2", "'a b'.\"c\\u00e9\"=1", "\"\"=1", "''=1", "\"\"\"a\"\"\"=1", "é=1", "a b=1",
    "1=1", "1.5=1",
    // tables
    "[a]\n[a]", "[a.b]\n[a]", "[a]\n[a.b]\n[a]", "[a.b]\n[a]\nb.c=1", "[a]\nb.c=1\n[a.b]", "[a]\nb.c=1\n[a.b.d]", "[a]\nb=1\n[a.b]",
    "[a]\nb=1\n[a.b.c]", "a={b=1}\n[a]", "a={b=1}\n[a.c]", "a={b=1}\na.c=2", "a.b=1\n[a]", "a.b=1\n[a.c]",
    "[a.b.c]\nz=9\n[a]\nb.c.t=1", "[]", "[a.]", "[.a]", "[ a . b ]", "[a]x=1", "[a] # c", "[a\n]", "[[a]]\nb=1\n[[a]]\nb=2",
    "[[a]]\n[a]", "[a]\n[[a]]", "a=[]\n[[a]]", "[[a]]\n[a.b]\n[[a]]\n[a.b]", "[[a]]\n[[a.b]]\n[[a.b]]", "[[a.b]]\n[a]",
    "[a]\n[[a.b]]\n[a.b.c]", "[[a]]\n[a.b]\n[a.b]", "[[a] ]", "[ [a]]", "a.b=1\n[[a.b]]", "[[a]]\na.b=1", "a=[{b=1}]\n[a.c]",
    // braces
    "a={}", "a={b=1,}", "a={,}", "a={b=1,,c=2}", "a={b=1\n,c=2 # x\n}", "a={b=1 c=2}", "a={b.c=1,b.d=2}", "a={b={c=1},b.d=2}",
    "a={b=1,b=2}", "a={b", "a={b=1",
    // lists
    "a=[1,2,]", "a=[,1]", "a=[1,,2]", "a=[1 2]", "a=[\n1, # one\n2\n]", "a=[1", "a=[[],[[]]]", "a=[1,'a',{b=1}]", "a=]",
    // numbers
    "a=+1", "a=-0", "a=01", "a=-01", "a=0", "a=1_000", "a=_1", "a=1_", "a=1__0", "a=0x_1", "a=0xdead_BEEF", "a=0XF", "a=-0x1",
    "a=0o17", "a=0o8", "a=0b11", "a=0b2", "a=0x", "a=9223372036854775807", "a=-9223372036854775808", "a=9223372036854775808",
    "a=1.", "a=.1", "a=1.0", "a=1.e1", "a=1e1", "a=1E+0_1", "a=1e_1", "a=1_.0", "a=0.0", "a=-0.0", "a=00.1", "a=03.14", "a=1e01",
    "a=1.5e-3", "a=inf", "a=+inf", "a=-inf", "a=nan", "a=Inf", "a=infinity", "a=1a", "a=0xg", "a=1-2", "a=true", "a=True",
    "a=truer", "a=yes", "a=+", "a=-", "a=1e400", "a=1;", "a=1=2", "a=2020-01-01", "a=12:30:00", "a=2020-01-01T12:30:00Z",
    "a=2020-01-01 12:30:00",
    // texts
    "a='x'", "a='x", "a='x\ny'", "a=\"x\ty\"", "a='\\n'", r#"a="\b\t\n\f\r\e\"\\\x41\u0041\U00000041""#, r#"a="\q""#,
    r#"a="\ud800""#, r#"a="\u12""#, r#"a="\é""#, "a=\"\u{1}\"", "a=\"\"\"\nx\ny\"\"\"", "a='''\nx'y''z'''", "a=\"\"\"x\"\"\"\"\"",
    "a=\"\"\"x\"\"\"\"\"\"", "a='''x'''''", "a=''''''", "a=\"\"\"\"\"\"", "a=\"\"\"x \\\n   y\"\"\"", "a=\"\"\"x \\  \n\n y\"\"\"",
    "a=\"\"\"x \\  y\"\"\"", "a=\"x \\\n y\"", "a=\"\"\"x\r\ny\"\"\"", "a=\"\"\"x\ry\"\"\"", "a=\"x\"y", "a='x''y'", "a=\"\" \"\"",
    "a=\"\u{7f}\"", "a=\"é\"",
];
