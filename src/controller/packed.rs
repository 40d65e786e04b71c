//! A row as what it has of its own: for kinds of which there may be very many.
//!
//! Objects of one template are alike but for a few texts: name, UID, owner, times. Of each shape (the names of all members
//! and where they stand) one object is kept whole; of every other one the values that differ from it. What is unpacked is
//! what was packed, whatever it is; how alike objects are decides about memory alone.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};

use serde_json::{Map, Value};

use crate::api::manifest::Manifest;

/// Shapes that nobody has any more are looked for when so many are known, and then at twice what is left.
const SHAPES: usize = 256;

/// A packed row.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    like: Arc<Sample>,
    /// Place and value of what differs, as JSON: a tree of values would take several times as much.
    own: Box<[u8]>,
}

/// The first object of its shape.
#[derive(Debug)]
struct Sample {
    shape: Box<[Part]>,
    leaves: Box<[Value]>,
}

/// A step of the walk through an object: members in their order, depth first.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Part {
    Object(usize),
    Member(Box<str>),
    Array(usize),
    /// Text, number, truth or nothing; the next of the leaves.
    Leaf,
}

/// The samples that are in use, by a hash of their shape.
#[derive(Debug, Default)]
pub(super) struct Samples {
    known: BTreeMap<u64, Weak<Sample>>,
    full: usize,
}

impl Samples {
    pub(super) fn pack(&mut self, row: Manifest) -> Packed {
        let (mut shape, mut leaves) = (Vec::new(), Vec::new());
        flatten(row.value, &mut shape, &mut leaves);
        let mut hasher = DefaultHasher::new();
        shape.hash(&mut hasher);
        let place = hasher.finish();
        let known = self.known.get(&place).and_then(Weak::upgrade).filter(|known| *known.shape == *shape);
        let Some(like) = known else {
            let like = Arc::new(Sample { shape: shape.into(), leaves: leaves.into() });
            self.known.insert(place, Arc::downgrade(&like));
            self.forget();
            return Packed { like, own: Box::default() };
        };
        let differs = leaves.iter().zip(&like.leaves).enumerate().filter(|(_, (own, of))| own != of);
        let own: Vec<(usize, &Value)> = differs.map(|(at, (own, _))| (at, own)).collect();
        let own = if own.is_empty() { Vec::new() } else { serde_json::to_vec(&own).unwrap_or_default() };
        Packed { like, own: own.into() }
    }

    fn forget(&mut self) {
        if self.known.len() > self.full.max(SHAPES) {
            self.known.retain(|_, sample| sample.strong_count() > 0);
            self.full = 2 * self.known.len();
        }
    }
}

impl Packed {
    /// The row again.
    pub(super) fn unpack(&self, namespace: &str, name: &str) -> Manifest {
        // Written by `pack`; nothing else is ever read here.
        let own: Vec<(usize, Value)> =
            if self.own.is_empty() { Vec::new() } else { serde_json::from_slice(&self.own).unwrap_or_default() };
        let mut own = own.into_iter().peekable();
        let mut leaves =
            self.like.leaves.iter().enumerate().map(|(at, leaf)| match own.next_if(|(own, _)| *own == at) {
                Some((_, value)) => value,
                None => leaf.clone(),
            });
        let value = build(&mut self.like.shape.iter(), &mut leaves);
        let text = |member: &str| value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        Manifest {
            api_version,
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            value,
            shared: Box::default(),
            origin: None,
        }
    }

    /// Whether both say the same. Objects of one shape share a sample for as long as one of them is there.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.like, &other.like) && self.own == other.own
    }
}

/// Objects nest as deep as `project` leaves them, which is a few dozen levels.
fn flatten(value: Value, shape: &mut Vec<Part>, leaves: &mut Vec<Value>) {
    match value {
        Value::Object(members) => {
            shape.push(Part::Object(members.len()));
            for (name, member) in members {
                shape.push(Part::Member(name.into()));
                flatten(member, shape, leaves);
            }
        }
        Value::Array(items) => {
            shape.push(Part::Array(items.len()));
            for item in items {
                flatten(item, shape, leaves);
            }
        }
        leaf => {
            shape.push(Part::Leaf);
            leaves.push(leaf);
        }
    }
}

fn build<'s>(shape: &mut impl Iterator<Item = &'s Part>, leaves: &mut impl Iterator<Item = Value>) -> Value {
    match shape.next() {
        Some(Part::Object(members)) => {
            let mut object = Map::new();
            for _ in 0..*members {
                let Some(Part::Member(name)) = shape.next() else { break };
                object.insert(name.to_string(), build(shape, leaves));
            }
            Value::Object(object)
        }
        Some(Part::Array(items)) => Value::Array((0..*items).map(|_| build(shape, leaves)).collect()),
        Some(Part::Leaf) => leaves.next().unwrap_or_default(),
        Some(Part::Member(_)) | None => Value::Null,
    }
}
