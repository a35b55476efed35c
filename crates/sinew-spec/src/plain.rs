//! Numbers, texts, vectors, lists: the values that all types are made of.

use crate::{ANY, FINITE, Kind, Rule, Sink, Source, Spec, Via, record};
use sinew_math::{Pose, Quat, Real, Sym3, Vec3};
use std::sync::Arc;

/// Types that a sink takes as they are.
macro_rules! plain {
    ($($type:ty: $part:ident, $kind:expr;)*) => {
        $(impl Spec for $type {
            fn kind(rule: &Rule) -> Kind {
                let kind: fn(&Rule) -> Kind = $kind;
                kind(rule)
            }

            fn put(&self, to: &mut dyn Sink) {
                to.$part(self.clone().into());
            }

            fn take(from: &mut dyn Source) -> Option<Self> {
                from.$part()?.try_into().ok()
            }
        })*
    };
}

/// A rule within the range of a type.
fn whole(rule: &Rule, low: f64, high: f64) -> Kind {
    Kind::Whole(Rule { low: rule.low.max(low), high: rule.high.min(high), ..*rule })
}

plain! {
    Real: real, |rule| Kind::Real(*rule);
    u32: count, |rule| whole(rule, 0.0, f64::from(u32::MAX));
    u64: count, |rule| whole(rule, 0.0, f64::from(u32::MAX));
    i32: whole, |rule| whole(rule, f64::from(i32::MIN), f64::from(i32::MAX));
    bool: flag, |_| Kind::Flag;
}

impl Spec for usize {
    fn kind(rule: &Rule) -> Kind {
        u32::kind(rule)
    }

    fn put(&self, to: &mut dyn Sink) {
        to.count(*self as u64);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        from.count()?.try_into().ok()
    }
}

/// The described form of a number in f64 whatever the build: times, numbers of devices.
///
/// ```
/// use sinew_spec::{Item, POSITIVE, Spec, Wide, record};
/// #[derive(Debug, PartialEq)]
/// struct Clock { period: f64 }
/// record!(Clock, "clock", "A clock.", Clock { period: 1.0 }, { period via Wide: POSITIVE, "Its period [s]."; });
/// let clock = Clock { period: 0.1 };
/// assert_eq!(clock.to_item(), Item::Record(vec![Item::Wide(0.1)]));
/// assert_eq!(Clock::from_item(clock.to_item()), Some(clock));
/// assert!(sinew_spec::check(&Clock { period: 0.0 }, "clock").is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wide(pub f64);

impl Spec for Wide {
    fn kind(rule: &Rule) -> Kind {
        Kind::Wide(*rule)
    }

    fn put(&self, to: &mut dyn Sink) {
        to.wide(self.0);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        from.wide().map(Self)
    }
}

impl Via<f64> for Wide {
    fn of(value: &f64) -> Self {
        Self(*value)
    }

    fn back(self) -> f64 {
        self.0
    }
}

impl Spec for String {
    fn kind(_: &Rule) -> Kind {
        Kind::Text
    }

    fn put(&self, to: &mut dyn Sink) {
        to.text(self);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        from.text()
    }
}

impl<T: Spec> Spec for Option<T> {
    fn kind(rule: &Rule) -> Kind {
        Kind::Optional(Box::new(T::kind(rule)))
    }

    fn put(&self, to: &mut dyn Sink) {
        to.flag(self.is_some());
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        if from.flag()? { T::take(from).map(Some) } else { Some(None) }
    }
}

impl<T: Spec> Spec for Box<T> {
    fn kind(rule: &Rule) -> Kind {
        T::kind(rule)
    }

    fn put(&self, to: &mut dyn Sink) {
        T::put(self, to);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        T::take(from).map(Box::new)
    }
}

impl<T: Spec> Spec for Vec<T> {
    fn kind(rule: &Rule) -> Kind {
        Kind::List(Box::new(T::kind(rule)), None)
    }

    fn put(&self, to: &mut dyn Sink) {
        to.length(self.len());
        self.iter().for_each(|item| item.put(to));
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        let length = from.length()?;
        let mut all = Self::new();
        for _ in 0..length {
            all.push(T::take(from)?);
        }
        Some(all)
    }
}

impl<T: Spec> Spec for Arc<[T]> {
    fn kind(rule: &Rule) -> Kind {
        Vec::<T>::kind(rule)
    }

    fn put(&self, to: &mut dyn Sink) {
        to.length(self.len());
        self.iter().for_each(|item| item.put(to));
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        Vec::take(from).map(Into::into)
    }
}

impl<T: Spec> Spec for Arc<T> {
    fn kind(rule: &Rule) -> Kind {
        T::kind(rule)
    }

    fn put(&self, to: &mut dyn Sink) {
        T::put(self, to);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        T::take(from).map(Arc::new)
    }
}

impl<T: Spec, const N: usize> Spec for [T; N] {
    fn kind(rule: &Rule) -> Kind {
        Kind::List(Box::new(T::kind(rule)), Some(N))
    }

    fn put(&self, to: &mut dyn Sink) {
        self.iter().for_each(|item| item.put(to));
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        (0..N).map(|_| T::take(from)).collect::<Option<Vec<T>>>()?.try_into().ok()
    }
}

/// Types that are described as another one.
macro_rules! same_as {
    ($($type:ty: $other:ty, $of:expr, $back:expr;)*) => {
        $(impl Spec for $type {
            fn kind(rule: &Rule) -> Kind {
                <$other>::kind(rule)
            }

            fn put(&self, to: &mut dyn Sink) {
                let of: fn(&Self) -> $other = $of;
                of(self).put(to);
            }

            fn take(from: &mut dyn Source) -> Option<Self> {
                let back: fn($other) -> Self = $back;
                <$other>::take(from).map(back)
            }
        })*
    };
}

same_as! {
    Vec3: [Real; 3], |v| v.to_array(), Vec3::from_array;
    // [xx, yy, zz, xy, xz, yz]
    Sym3: [Real; 6], |m| [m.xx, m.yy, m.zz, m.xy, m.xz, m.yz], |[xx, yy, zz, xy, xz, yz]| Sym3 { xx, yy, zz, xy, xz, yz };
    (Real, Real): [Real; 2], |&(a, b)| [a, b], |[a, b]| (a, b);
}

impl Spec for Quat {
    fn kind(_: &Rule) -> Kind {
        Kind::Turn
    }

    fn put(&self, to: &mut dyn Sink) {
        self.to_array().put(to);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        Spec::take(from).map(Quat::from_array)
    }
}

record!(Pose, "pose", "A position and an orientation.", Pose::IDENTITY, {
    position: FINITE, "Position [m].";
    rotation: ANY, "Orientation.";
});

impl<T, V: Via<T>> Via<Option<T>> for Option<V> {
    fn of(value: &Option<T>) -> Self {
        value.as_ref().map(V::of)
    }

    fn back(self) -> Option<T> {
        self.map(V::back)
    }
}

impl<T, V: Via<T>, const N: usize> Via<[T; N]> for [V; N] {
    fn of(value: &[T; N]) -> Self {
        value.each_ref().map(V::of)
    }

    fn back(self) -> [T; N] {
        self.map(V::back)
    }
}

impl<T, V: Via<T>> Via<Vec<T>> for Vec<V> {
    fn of(value: &Vec<T>) -> Self {
        value.iter().map(V::of).collect()
    }

    fn back(self) -> Vec<T> {
        self.into_iter().map(V::back).collect()
    }
}

impl<T, V: Via<T>> Via<Arc<[T]>> for Vec<V> {
    fn of(value: &Arc<[T]>) -> Self {
        value.iter().map(V::of).collect()
    }

    fn back(self) -> Arc<[T]> {
        self.into_iter().map(V::back).collect()
    }
}
