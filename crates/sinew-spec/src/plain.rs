//! Numbers, texts, vectors, lists: the values that all types are made of.

use crate::{Item, Kind, Rule, Spec};
use sinew_math::{Real, Sym3, Vec3};

impl Spec for Real {
    fn kind(rule: &Rule) -> Kind {
        Kind::Real(*rule)
    }

    fn to_item(&self) -> Item {
        Item::Real(*self)
    }

    fn from_item(item: Item) -> Option<Self> {
        if let Item::Real(x) = item { Some(x) } else { None }
    }
}

macro_rules! whole {
    ($type:ident) => {
        impl Spec for $type {
            fn kind(rule: &Rule) -> Kind {
                let (low, high) = (f64::from($type::MIN), f64::from($type::MAX));
                Kind::Whole(Rule { low: rule.low.max(low), high: rule.high.min(high), ..*rule })
            }

            fn to_item(&self) -> Item {
                Item::Whole(i64::from(*self))
            }

            fn from_item(item: Item) -> Option<Self> {
                if let Item::Whole(i) = item { i.try_into().ok() } else { None }
            }
        }
    };
}

whole!(u32);
whole!(i32);

impl Spec for bool {
    fn kind(_: &Rule) -> Kind {
        Kind::Flag
    }

    fn to_item(&self) -> Item {
        Item::Flag(*self)
    }

    fn from_item(item: Item) -> Option<Self> {
        if let Item::Flag(yes) = item { Some(yes) } else { None }
    }
}

impl Spec for String {
    fn kind(_: &Rule) -> Kind {
        Kind::Text
    }

    fn to_item(&self) -> Item {
        Item::Text(self.clone())
    }

    fn from_item(item: Item) -> Option<Self> {
        if let Item::Text(text) = item { Some(text) } else { None }
    }
}

impl<T: Spec> Spec for Option<T> {
    fn kind(rule: &Rule) -> Kind {
        Kind::Optional(Box::new(T::kind(rule)))
    }

    fn to_item(&self) -> Item {
        Item::Optional(self.as_ref().map(|value| Box::new(value.to_item())))
    }

    fn from_item(item: Item) -> Option<Self> {
        match item {
            Item::Optional(None) => Some(None),
            Item::Optional(Some(item)) => T::from_item(*item).map(Some),
            _ => None,
        }
    }
}

fn items<T: Spec>(item: Item) -> Option<Vec<T>> {
    let Item::List(items) = item else { return None };
    items.into_iter().map(T::from_item).collect()
}

impl<T: Spec> Spec for Vec<T> {
    fn kind(rule: &Rule) -> Kind {
        Kind::List(Box::new(T::kind(rule)), None)
    }

    fn to_item(&self) -> Item {
        Item::List(self.iter().map(Spec::to_item).collect())
    }

    fn from_item(item: Item) -> Option<Self> {
        items(item)
    }
}

impl<T: Spec, const N: usize> Spec for [T; N] {
    fn kind(rule: &Rule) -> Kind {
        Kind::List(Box::new(T::kind(rule)), Some(N))
    }

    fn to_item(&self) -> Item {
        Item::List(self.iter().map(Spec::to_item).collect())
    }

    fn from_item(item: Item) -> Option<Self> {
        items(item)?.try_into().ok()
    }
}

impl Spec for Vec3 {
    fn kind(rule: &Rule) -> Kind {
        <[Real; 3]>::kind(rule)
    }

    fn to_item(&self) -> Item {
        self.to_array().to_item()
    }

    fn from_item(item: Item) -> Option<Self> {
        <[Real; 3]>::from_item(item).map(Vec3::from_array)
    }
}

/// An inertia: `[xx, yy, zz, xy, xz, yz]`.
impl Spec for Sym3 {
    fn kind(rule: &Rule) -> Kind {
        <[Real; 6]>::kind(rule)
    }

    fn to_item(&self) -> Item {
        [self.xx, self.yy, self.zz, self.xy, self.xz, self.yz].to_item()
    }

    fn from_item(item: Item) -> Option<Self> {
        let [xx, yy, zz, xy, xz, yz] = <[Real; 6]>::from_item(item)?;
        Some(Sym3 { xx, yy, zz, xy, xz, yz })
    }
}
