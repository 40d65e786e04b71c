//! A row as what it has of its own: for kinds of which there may be very many.
//!
//! Objects of one template are alike but for a few texts: name, UID, owner, times. Of each shape (the names of all members
//! and where they stand) one object is kept whole; of every other one the values that differ from it, of which those that it
//! has from its maker (spec, labels, annotations, owners) are kept once for all of one maker. What is unpacked is what was
//! packed, whatever it is; how alike objects are decides about memory alone.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::once::Once;
use crate::api::manifest::Manifest;

/// Members of an object, and of its metadata, that it has from its maker.
const MADE: [&str; 1] = ["spec"];
const MADE_METADATA: [&str; 3] = ["labels", "annotations", "ownerReferences"];

/// A packed row: place and value of what differs, as JSON, for a tree of values would take several times as much.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    like: Arc<Sample>,
    made: Arc<[u8]>,
    own: Box<[u8]>,
}

/// The first object of its shape.
#[derive(Debug)]
struct Sample {
    shape: Box<[Part]>,
    leaves: Box<[Leaf]>,
}

/// A value that is no object or list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Leaf {
    value: Value,
    /// Whether the object has it from its maker: by its place, so that it is the same for all of a shape.
    made: bool,
}

/// A step of the walk through an object: members in their order, depth first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Part {
    Object(usize),
    Member(Box<str>),
    Array(usize),
    /// Text, number, truth or nothing; the next of the leaves.
    Leaf,
}

/// The samples that are in use, and of what objects have from their makers.
#[derive(Debug, Default)]
pub(super) struct Samples {
    samples: Once<Sample>,
    made: Once<[u8]>,
}

impl Samples {
    pub(super) fn pack(&mut self, row: Manifest) -> Packed {
        let (mut shape, mut leaves) = (Vec::new(), Vec::new());
        flatten(row.value, Place::Top, &mut shape, &mut leaves);
        let new = || Arc::new(Sample { shape: shape.as_slice().into(), leaves: leaves.as_slice().into() });
        let like = self.samples.one(&shape, |known| *known.shape == *shape, new);
        let differs = |made: bool| {
            let both = leaves.iter().zip(&like.leaves).enumerate();
            let own = both.filter(|(_, (own, of))| own.made == made && own.value != of.value);
            let own: Vec<(usize, &Value)> = own.map(|(at, (own, _))| (at, &own.value)).collect();
            if own.is_empty() { Vec::new() } else { serde_json::to_vec(&own).unwrap_or_default() }
        };
        let made = differs(true);
        let made = self.made.one(&made, |known| *known == *made, || made.as_slice().into());
        let own = differs(false).into();
        Packed { like, made, own }
    }
}

impl Packed {
    /// The row again.
    pub(super) fn unpack(&self, namespace: &str, name: &str) -> Manifest {
        // Written by `pack`; nothing else is ever read here.
        let read = |written: &[u8]| -> Vec<(usize, Value)> {
            if written.is_empty() { Vec::new() } else { serde_json::from_slice(written).unwrap_or_default() }
        };
        let (mut made, mut own) = (read(&self.made).into_iter().peekable(), read(&self.own).into_iter().peekable());
        let mut leaves = self.like.leaves.iter().enumerate().map(|(at, leaf)| {
            let differs = if leaf.made { &mut made } else { &mut own };
            differs.next_if(|(place, _)| *place == at).map_or_else(|| leaf.value.clone(), |(_, value)| value)
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
        Arc::ptr_eq(&self.like, &other.like) && self.made == other.made && self.own == other.own
    }
}

/// Where the walk is, as far as it says whether what stands there is from an object's maker.
#[derive(Clone, Copy)]
enum Place {
    Top,
    Metadata,
    Within { made: bool },
}

impl Place {
    fn below(self, member: &str) -> Self {
        match self {
            Self::Top if member == "metadata" => Self::Metadata,
            Self::Top => Self::Within { made: MADE.contains(&member) },
            Self::Metadata => Self::Within { made: MADE_METADATA.contains(&member) },
            Self::Within { .. } => self,
        }
    }
}

/// Objects nest as deep as `project` leaves them, which is a few dozen levels.
fn flatten(value: Value, place: Place, shape: &mut Vec<Part>, leaves: &mut Vec<Leaf>) {
    match value {
        Value::Object(members) => {
            shape.push(Part::Object(members.len()));
            for (name, member) in members {
                let place = place.below(&name);
                shape.push(Part::Member(name.into()));
                flatten(member, place, shape, leaves);
            }
        }
        Value::Array(items) => {
            shape.push(Part::Array(items.len()));
            for item in items {
                flatten(item, place, shape, leaves);
            }
        }
        value => {
            shape.push(Part::Leaf);
            leaves.push(Leaf { value, made: matches!(place, Place::Within { made: true }) });
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
