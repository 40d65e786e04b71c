//! What many rows have in common, kept once for as long as anybody has it.
//!
//! Found by a hash of what it says; two that only share a hash are both kept, the later one being found.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};

/// What nobody has any more is looked for when so many are known, and then at twice what is left.
const KNOWN: usize = 256;

#[derive(Debug)]
pub(super) struct Once<T: ?Sized> {
    known: HashMap<u64, Weak<T>>,
    full: usize,
}

impl<T: ?Sized> Default for Once<T> {
    fn default() -> Self {
        Self { known: HashMap::new(), full: 0 }
    }
}

impl<T: ?Sized> Once<T> {
    /// The one that is known by `of` and is the same, or else what is made now.
    pub(super) fn one(
        &mut self,
        of: &(impl Hash + ?Sized),
        is_same: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        let mut hasher = DefaultHasher::new();
        of.hash(&mut hasher);
        let place = hasher.finish();
        let known = self.known.get(&place).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| is_same(known)) {
            return known;
        }
        let new = make();
        self.known.insert(place, Arc::downgrade(&new));
        if self.known.len() > self.full.max(KNOWN) {
            self.known.retain(|_, one| one.strong_count() > 0);
            self.full = 2 * self.known.len();
        }
        new
    }
}
