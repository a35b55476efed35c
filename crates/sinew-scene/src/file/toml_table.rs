//! Tables of a TOML file while it is read: which parts of a table may be given twice, and which may not.
//!
//! A table is made by its header, as the way to another's, by a key with dots, or in braces. Its header may come once, also after
//! those of its parts; keys with dots go on only what keys with dots have made; what stands in braces is finished.

use super::keys::Keys;
use super::tree::{Entry, Node, Span, Value, make_room};

/// A table that is not finished.
#[derive(Debug)]
pub(crate) struct Open {
    parts: Vec<Part>,
    keys: Keys,
    made: Made,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// `[a.b]` makes `a`.
    OnTheWay,
    Header,
    Dots,
}

/// One key of an open table.
#[derive(Debug)]
struct Part {
    key: Box<str>,
    key_span: Span,
    span: Span,
    what: What,
}

#[derive(Debug)]
enum What {
    Done(Value),
    Table(Box<Open>),
    /// `[[a]]`: the last one is open.
    Tables(Vec<(Span, Open)>),
}

/// A key with its place.
pub(crate) type Key = (Box<str>, Span);
/// A fault with its place.
pub(crate) type Fault = (Span, String);

fn fault<T>((key, span): &Key, what: &str) -> Result<T, Fault> {
    let short: String = key.chars().take(60).collect();
    Err((*span, format!("'{}' {what}", short.escape_debug())))
}

impl Open {
    /// A table of a file, or in braces.
    pub fn new() -> Self {
        Self::made(Made::Header)
    }

    fn made(made: Made) -> Self {
        Self { parts: Vec::new(), keys: Keys::default(), made }
    }

    fn find(&self, key: &str) -> Option<usize> {
        self.keys.find(key, self.parts.len(), |i| &*self.parts[i].key)
    }

    fn push(&mut self, (key, key_span): Key, span: Span, what: What) -> usize {
        make_room(&mut self.parts);
        self.parts.push(Part { key, key_span, span, what });
        let parts = &self.parts;
        self.keys.added(parts.len(), |i| &*parts[i].key);
        parts.len() - 1
    }

    /// The open table at a place of the way of a header.
    pub fn below(&mut self, way: &[usize]) -> Option<&mut Open> {
        let mut here = self;
        for &i in way {
            here = match &mut here.parts.get_mut(i)?.what {
                What::Done(_) => return None,
                What::Table(table) => table,
                What::Tables(all) => &mut all.last_mut()?.1,
            };
        }
        Some(here)
    }

    /// Opens the table of a header; the way to it comes back.
    pub fn header(&mut self, keys: Vec<Key>, span: Span, many: bool) -> Result<Vec<usize>, Fault> {
        let (mut here, mut way, last) = (self, Vec::new(), keys.len() - 1);
        for (deep, key) in keys.into_iter().enumerate() {
            let i = match here.find(&key.0) {
                Some(i) if deep == last => here.again(i, &key, span, many).map(|()| i)?,
                Some(i) => i,
                None if deep == last && many => here.push(key.clone(), key.1, What::Tables(vec![(span, Open::new())])),
                None if deep == last => here.push(key.clone(), span, What::Table(Box::new(Open::new()))),
                None => here.push(key.clone(), key.1, What::Table(Box::new(Open::made(Made::OnTheWay)))),
            };
            way.push(i);
            here = match &mut here.parts[i].what {
                What::Table(table) => table,
                What::Tables(all) => match all.last_mut() {
                    Some((_, table)) => table,
                    None => return fault(&key, "has no table"),
                },
                What::Done(_) => return fault(&key, "has a value already"),
            };
        }
        Ok(way)
    }

    /// A header for a key that is there.
    fn again(&mut self, i: usize, key: &Key, span: Span, many: bool) -> Result<(), Fault> {
        let part = &mut self.parts[i];
        match &mut part.what {
            What::Tables(all) if many => {
                make_room(all);
                all.push((span, Open::new()));
            }
            What::Table(table) if !many && table.made == Made::OnTheWay => {
                table.made = Made::Header;
                part.span = span;
            }
            What::Table(_) => return fault(key, "is here twice: this table is there already"),
            What::Tables(_) => return fault(key, "is a list of tables: its headers have two brackets"),
            What::Done(_) => return fault(key, "is here twice: it has a value already"),
        }
        Ok(())
    }

    /// Sets the value of a key, with dots or without.
    pub fn set(&mut self, keys: Vec<Key>, node: Node) -> Result<(), Fault> {
        let (mut here, last) = (self, keys.len() - 1);
        for (deep, key) in keys.into_iter().enumerate() {
            let found = here.find(&key.0);
            if deep == last {
                return match found {
                    Some(_) => fault(&key, "is here twice"),
                    None => {
                        here.push(key, node.span, What::Done(node.value));
                        Ok(())
                    }
                };
            }
            let i = match found {
                Some(i) => i,
                None => here.push(key.clone(), key.1, What::Table(Box::new(Open::made(Made::Dots)))),
            };
            here = match &mut here.parts[i].what {
                What::Table(table) if table.made == Made::Dots => table,
                What::Done(_) => return fault(&key, "has a value already"),
                _ => return fault(&key, "is a table of its own: its keys stand below its header"),
            };
        }
        Ok(())
    }

    /// The table as it is. Parts become entries where they lie: they have the same size.
    pub fn finish(self) -> Value {
        drop(self.keys);
        let entry = |part: Part| {
            let value = match part.what {
                What::Done(value) => value,
                What::Table(table) => table.finish(),
                What::Tables(all) => {
                    Value::List(all.into_iter().map(|(span, table)| Node { span, value: table.finish() }).collect())
                }
            };
            Entry { key: part.key, key_span: part.key_span, node: Node { span: part.span, value } }
        };
        Value::Table(self.parts.into_iter().map(entry).collect())
    }
}
