//! Putting one document together: events in, a JSON value with the span of each of its nodes out.
//!
//! YAML and JSON share it, so both have the same rules on duplicate keys, depth and size. It is a stack, not a
//! recursion: no nesting can overflow it. Every event is paid for from a [`Budget`] before memory is taken.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::codes;
use super::limits::{Budget, Exceeded};
use crate::api::spans::{Key, NodeId, SpanTree, Subtree, label};

/// Something wrong in a document, at bytes of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: &'static str,
    pub at: (usize, usize),
    pub message: String,
    pub label: String,
    pub hint: Option<String>,
    /// Of two places that clash, where the first one begins.
    pub first: Option<usize>,
    /// Whether it is only a warning.
    pub mild: bool,
}

impl Fault {
    pub fn new(code: &'static str, at: (usize, usize), message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { code, at, message: message.into(), label: label.into(), hint: None, first: None, mild: false }
    }
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    pub fn mild(mut self) -> Self {
        self.mild = true;
        self
    }
}

/// A finished document.
#[derive(Debug)]
pub struct Document {
    pub value: Value,
    pub spans: SpanTree,
}

/// A document being put together.
pub struct Builder<'a> {
    budget: &'a mut Budget,
    stack: Vec<Frame>,
    spans: SpanTree,
    root: Option<Value>,
    /// Where the text of the last event ended: a block collection ends there too.
    last_end: usize,
    anchors: HashMap<usize, Anchored>,
    /// Faults that do not end the document.
    faults: Vec<Fault>,
    /// Keys that stood twice so far.
    duplicates: usize,
}

/// For so many duplicate keys the first one is looked up, which walks over the map. More are mistakes of the same sort.
const DUPLICATES_PLACED: usize = 100;

/// A node that an alias may repeat.
struct Anchored {
    value: Value,
    spans: Subtree,
    weight: usize,
}

struct Frame {
    node: NodeId,
    /// Where it begins, for its own faults.
    at: (usize, usize),
    anchor: usize,
    /// What the budget had left when it began: the difference is its weight.
    spent_before: usize,
    body: Body,
}

enum Body {
    List(Vec<Value>),
    Map {
        entries: Map<String, Value>,
        /// The key that waits for its value.
        key: Option<(String, (usize, usize))>,
        /// `<<`: what is merged in at the end.
        merges: Vec<(Value, Subtree)>,
        /// Whether its values are text by contract (labels, annotations), so that `yes` stays a word.
        holds_text: bool,
    },
}

/// The innermost collection that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    Nothing,
    List,
    /// Waiting for a key.
    MapKey,
    /// Waiting for the value of a key.
    MapValue,
}

/// Maps whose values Kubernetes takes as text only.
const TEXT_MAPS: [&str; 9] = [
    "labels",
    "annotations",
    "matchLabels",
    "nodeLabels",
    "nodeSelector",
    "match",
    "fingerprint",
    "data",
    "stringData",
];

impl<'a> Builder<'a> {
    pub fn new(budget: &'a mut Budget) -> Self {
        let (stack, anchors, faults) = (Vec::new(), HashMap::new(), Vec::new());
        Self { budget, stack, spans: SpanTree::default(), root: None, last_end: 0, anchors, faults, duplicates: 0 }
    }

    pub fn note(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// The finished document, if there was one; the builder is ready for the next.
    pub fn finish(&mut self) -> Option<Document> {
        self.stack.clear();
        self.anchors.clear();
        let mut spans = std::mem::take(&mut self.spans);
        spans.shrink();
        self.root.take().map(|value| Document { value, spans })
    }

    /// Where the innermost open collection begins.
    pub fn open_since(&self) -> Option<usize> {
        self.stack.last().map(|frame| frame.at.0)
    }

    pub fn inside(&self) -> Inside {
        match self.stack.last().map(|frame| &frame.body) {
            None => Inside::Nothing,
            Some(Body::List(_)) => Inside::List,
            Some(Body::Map { key: None, .. }) => Inside::MapKey,
            Some(Body::Map { key: Some(_), .. }) => Inside::MapValue,
        }
    }

    /// Whether a scalar that comes now is text by contract.
    pub fn expects_text(&self) -> bool {
        matches!(self.stack.last().map(|frame| &frame.body), Some(Body::Map { holds_text: true, key: Some(_), .. }))
    }

    /// Begins a map (`list` false) or a list.
    pub fn open(&mut self, list: bool, at: (usize, usize), anchor: usize) -> Result<(), Fault> {
        if self.inside() == Inside::MapKey {
            let found = if list { "a list" } else { "a map" };
            let message = format!("{found} is used as a key; keys are text");
            return Err(Fault::new(codes::SHAPE, at, message, "this key"));
        }
        if self.stack.len() >= self.budget.depth() {
            let message = format!("nested deeper than {} levels", self.budget.depth());
            return Err(Fault::new(codes::TOO_DEEP, at, message, "one level too deep"));
        }
        self.pay(Budget::COLLECTION, at)?;
        let holds_text = !list && pending_key(&self.stack).is_some_and(|key| TEXT_MAPS.contains(&key.text));
        let node = self.spans.open(pending_key(&self.stack), at);
        let body = if list {
            Body::List(Vec::new())
        } else {
            Body::Map { entries: Map::new(), key: None, merges: Vec::new(), holds_text }
        };
        self.stack.push(Frame { node, at, anchor, spent_before: self.budget.spent(), body });
        Ok(())
    }

    /// Ends the innermost collection. `end`: where its closing bracket ends, if it has one.
    pub fn close(&mut self, end: Option<usize>) -> Result<(), Fault> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let value = match frame.body {
            Body::List(items) => Value::Array(items),
            Body::Map { mut entries, merges, .. } => {
                for (source, spans) in merges {
                    self.merge(&mut entries, source, &spans);
                }
                Value::Object(entries)
            }
        };
        self.last_end = end.unwrap_or(self.last_end);
        self.spans.close(frame.node, self.last_end);
        let weight = self.budget.spent().saturating_sub(frame.spent_before);
        self.remember(frame.anchor, frame.node, &value, weight, frame.at)?;
        self.place(value, frame.at);
        Ok(())
    }

    /// A key of the innermost map.
    pub fn key(&mut self, text: &str, at: (usize, usize)) -> Result<(), Fault> {
        self.pay(Budget::ENTRY + text.len(), at)?;
        let Some(Frame { node, body: Body::Map { entries, key, .. }, .. }) = self.stack.last_mut() else {
            return Ok(());
        };
        if entries.is_empty() {
            // A map's first entry allocates its first tree node.
            self.budget.pay(Budget::FIRST_ENTRY).map_err(|exceeded| too_large(&exceeded, at))?;
        }
        *key = Some((text.to_owned(), at));
        if entries.contains_key(text) {
            let message = format!("the key `{text}` stands twice in one map; Kubernetes would silently keep one");
            let mut fault = Fault::new(codes::DUPLICATE_KEY, at, message, "again here");
            self.duplicates += 1;
            if self.duplicates <= DUPLICATES_PLACED {
                let first = self.spans.child(*node, text).and_then(|id| self.spans.span_of(id));
                fault.first = first.and_then(|span| span.key).map(|(start, _)| start);
            }
            self.faults.push(fault);
        }
        Ok(())
    }

    /// A scalar that is not a key.
    pub fn scalar(&mut self, value: Value, at: (usize, usize), anchor: usize) -> Result<(), Fault> {
        let weight = Budget::SCALAR + value.as_str().map_or(0, str::len);
        self.pay(weight, at)?;
        let at = if at.0 == at.1 { pending_key(&self.stack).map_or(at, |key| key.span) } else { at };
        self.last_end = self.last_end.max(at.1);
        let node = self.spans.leaf(pending_key(&self.stack), at);
        self.remember(anchor, node, &value, weight, at)?;
        self.place(value, at);
        Ok(())
    }

    /// An alias: the anchored node again.
    pub fn alias(&mut self, anchor: usize, at: (usize, usize)) -> Result<(), Fault> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            let message = "an alias stands inside the very node it repeats".to_owned();
            return Err(Fault::new(codes::ALIAS, at, message, "this would never end"));
        };
        self.budget.pay_alias(anchored.weight).map_err(|exceeded| too_large(&exceeded, at))?;
        let (value, spans) = (anchored.value.clone(), anchored.spans.clone());
        self.last_end = self.last_end.max(at.1);
        match self.inside() {
            Inside::MapKey => match value {
                Value::String(text) => self.key(&text, at),
                _ => Err(Fault::new(
                    codes::SHAPE,
                    at,
                    "an alias of something other than text is used as a key",
                    "this key",
                )),
            },
            _ => {
                self.spans.graft(pending_key(&self.stack), &spans);
                self.place_with(value, at, Some(spans));
                Ok(())
            }
        }
    }

    fn pay(&mut self, weight: usize, at: (usize, usize)) -> Result<(), Fault> {
        self.budget.pay(weight).map_err(|exceeded| too_large(&exceeded, at))
    }

    fn remember(
        &mut self,
        anchor: usize,
        node: NodeId,
        value: &Value,
        weight: usize,
        at: (usize, usize),
    ) -> Result<(), Fault> {
        if anchor > 0 {
            self.pay(weight, at)?;
            let anchored = Anchored { value: value.clone(), spans: self.spans.subtree(node), weight };
            self.anchors.insert(anchor, anchored);
        }
        Ok(())
    }

    fn place(&mut self, value: Value, at: (usize, usize)) {
        self.place_with(value, at, None);
    }

    /// Puts a finished node where it belongs.
    fn place_with(&mut self, value: Value, at: (usize, usize), spans: Option<Subtree>) {
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(value);
            return;
        };
        match &mut frame.body {
            Body::List(items) => items.push(value),
            Body::Map { entries, key, merges, .. } => {
                let Some((text, _)) = key.take() else { return };
                if text == "<<" {
                    match (mergeable(&value), spans) {
                        (true, Some(spans)) => merges.push((value, spans)),
                        (true, None) => merges.push((value, Subtree::default())),
                        (false, _) => {
                            let message = "`<<` merges a map or a list of maps, found something else";
                            self.faults.push(Fault::new(codes::ALIAS, at, message, "not a map"));
                        }
                    }
                } else {
                    // Of a duplicate key, which is an error, the first value stands.
                    entries.entry(text).or_insert(value);
                }
            }
        }
    }

    /// Adds the entries of a merged map that are not given explicitly.
    fn merge(&mut self, entries: &mut Map<String, Value>, source: Value, spans: &Subtree) {
        match source {
            Value::Object(merged) => {
                let children = spans.by_key();
                for (key, value) in merged {
                    if !entries.contains_key(&key) {
                        if let Some(child) = children.get(&label(&key)) {
                            self.spans.graft_entry(child);
                        }
                        entries.insert(key, value);
                    }
                }
            }
            Value::Array(list) => {
                let mut children = spans.children();
                for item in list {
                    self.merge(entries, item, &children.next().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
}

/// The key that waits for its value in the innermost map.
fn pending_key(stack: &[Frame]) -> Option<Key<'_>> {
    match &stack.last()?.body {
        Body::Map { key: Some((text, span)), .. } => Some(Key { text, span: *span }),
        _ => None,
    }
}

fn mergeable(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().all(Value::is_object),
        _ => false,
    }
}

fn too_large(exceeded: &Exceeded, at: (usize, usize)) -> Fault {
    Fault::new(exceeded.code, at, exceeded.message.clone(), "reading stopped here").hint(exceeded.hint)
}
