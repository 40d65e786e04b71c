//! Where every node of a document was written, in 24 bytes a node.
//!
//! A manifest of 50 MB has millions of nodes, so there is no map from pointer to span: the nodes stand in document
//! order, each knows where its subtree ends, and a pointer is followed by walking over siblings.
//! Invariant: offsets are bytes into the document's file, on character borders.

use std::collections::HashMap;

use super::manifest::NodeSpan;

/// No key: the root, or an item of a list.
const NONE: u32 = u32::MAX;

/// The nodes of one document, in document order.
#[derive(Debug, Default)]
pub struct SpanTree {
    nodes: Vec<Node>,
}

/// One node. Children follow it directly.
#[derive(Debug, Clone, Copy)]
struct Node {
    key: (u32, u32),
    value: (u32, u32),
    /// How many nodes its subtree has, itself included: relative, so that a subtree can be copied. 0 while it is open.
    size: u32,
    /// Hash of the key; 0 for the root and for items of lists.
    label: u32,
}

/// A node's index in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeId(u32);

/// A copy of a subtree, to be grafted where an alias stands.
#[derive(Debug, Clone, Default)]
pub struct Subtree(Vec<Node>);

/// The key of a node: its text and where it was written.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    pub text: &'a str,
    pub span: (usize, usize),
}

impl SpanTree {
    /// Adds a node without children, the next in document order.
    pub fn leaf(&mut self, key: Option<Key<'_>>, value: (usize, usize)) -> NodeId {
        self.add(key, value, 1)
    }

    /// Begins a collection, the next node in document order; it is ended with `close`.
    pub fn open(&mut self, key: Option<Key<'_>>, value: (usize, usize)) -> NodeId {
        self.add(key, value, 0)
    }

    fn add(&mut self, key: Option<Key<'_>>, value: (usize, usize), size: u32) -> NodeId {
        let id = NodeId(narrow(self.nodes.len()));
        let (key, label) = key_and_label(key);
        self.nodes.push(Node { key, value: narrow_pair(value), size, label });
        id
    }

    /// The index after the last node of a subtree; an open one ends where the nodes do.
    fn end_of(&self, id: NodeId) -> u32 {
        match self.nodes.get(wide(id.0)) {
            Some(node) if node.size > 0 => id.0 + node.size,
            Some(_) => narrow(self.nodes.len()),
            None => id.0,
        }
    }

    /// Ends a node's subtree with the last node added, and its text at `end`.
    pub fn close(&mut self, id: NodeId, end: usize) {
        let length = narrow(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(wide(id.0)) {
            node.size = length - id.0;
            node.value.1 = narrow(end).max(node.value.0);
        }
    }

    /// A copy of the subtree at `id`.
    #[must_use]
    pub fn subtree(&self, id: NodeId) -> Subtree {
        let from = wide(id.0);
        let size = self.nodes.get(from).map_or(0, |node| wide(node.size));
        Subtree(self.nodes.get(from..from + size).unwrap_or_default().to_vec())
    }

    /// Adds a copied subtree under a key of its own, or as an item of a list.
    pub fn graft(&mut self, key: Option<Key<'_>>, subtree: &Subtree) {
        let at = self.nodes.len();
        self.nodes.extend_from_slice(&subtree.0);
        if let Some(node) = self.nodes.get_mut(at) {
            (node.key, node.label) = key_and_label(key);
        }
    }

    /// Adds a copied entry of a map, key and all.
    pub fn graft_entry(&mut self, subtree: &Subtree) {
        self.nodes.extend_from_slice(&subtree.0);
    }

    /// The spans at a JSON pointer below `root`, or `None` where there is no such node.
    #[must_use]
    pub fn find(&self, root: NodeId, pointer: &str) -> Option<NodeSpan> {
        let mut at = root;
        for segment in pointer.split('/').skip(1) {
            at = self.child(at, &segment.replace("~1", "/").replace("~0", "~"))?;
        }
        self.span_of(at)
    }

    /// The spans of a node.
    #[must_use]
    pub fn span_of(&self, id: NodeId) -> Option<NodeSpan> {
        let node = self.nodes.get(wide(id.0))?;
        let key = (node.key.0 != NONE).then(|| (wide(node.key.0), wide(node.key.1)));
        Some(NodeSpan { key, value: (wide(node.value.0), wide(node.value.1)) })
    }

    /// The child with that key, or at that position of a list.
    ///
    /// Keys are compared by hash: a collision, one in four thousand million, would put a caret under a sibling.
    #[must_use]
    pub fn child(&self, parent: NodeId, segment: &str) -> Option<NodeId> {
        let (wanted, index) = (label(segment), segment.parse::<usize>().ok());
        let matches = |(position, id): &(usize, NodeId)| match self.nodes.get(wide(id.0)) {
            Some(node) if node.key.0 == NONE => index == Some(*position),
            Some(node) => node.label == wanted,
            None => false,
        };
        self.children(parent).enumerate().find(matches).map(|(_, id)| id)
    }

    /// The children of a node, in order.
    pub fn children(&self, parent: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.end_of(parent);
        let within = move |at: u32| Some(NodeId(at)).filter(|_| at < end);
        std::iter::successors(within(parent.0 + 1), move |child| within(self.end_of(*child)))
    }

    /// Frees what growing has reserved.
    pub fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
    }
}

impl NodeId {
    pub const ROOT: Self = Self(0);
}

impl Subtree {
    /// The copied node's children, in order.
    pub fn children(&self) -> impl Iterator<Item = Self> + '_ {
        let mut at = 1;
        std::iter::from_fn(move || {
            let child = self.0.get(at)?;
            let from = at;
            at += wide(child.size).max(1);
            Some(Self(self.0.get(from..at)?.to_vec()))
        })
    }

    /// Its children by the hashes of their keys, the first of each: for whoever asks for all of them.
    #[must_use]
    pub fn by_key(&self) -> HashMap<u32, Self> {
        let mut all = HashMap::new();
        for child in self.children() {
            all.entry(child.0.first().map_or(0, |node| node.label)).or_insert(child);
        }
        all
    }
}

fn key_and_label(key: Option<Key<'_>>) -> ((u32, u32), u32) {
    key.map_or(((NONE, NONE), 0), |key| (narrow_pair(key.span), label(key.text)))
}

/// A key's hash, FNV-1a; never 0, which stands for "no key".
#[must_use]
pub fn label(text: &str) -> u32 {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.max(1)
}

/// Files are far below 4 GiB (`scenario::Limits`); beyond, a span would only be less exact.
fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(NONE - 1)
}

fn narrow_pair((start, end): (usize, usize)) -> (u32, u32) {
    (narrow(start), narrow(end))
}

fn wide(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
