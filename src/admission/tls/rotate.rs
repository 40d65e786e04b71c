//! Which step of a rotation is due. Authority and leaf are judged apart from each other, at every look.
//!
//! The order is what keeps every handshake good: a new authority joins the bundle; the bundle is published and seen to
//! be; then a leaf is issued from it; the old authority leaves one leaf's lifetime later. Pure: whoever acts looks again.

use super::TlsError;
use super::issue::{self, Issued, LEAF_LIFE};
use crate::units::{Seconds, Timestamp};

/// A new authority is made this long before the last one ends: three lives of a leaf.
const AUTHORITY_AHEAD: Seconds = Seconds(3 * LEAF_LIFE.0);
/// A leaf is replaced with a third of its life left, so that a week of failures goes unnoticed by users.
const LEAF_AHEAD: Seconds = Seconds(LEAF_LIFE.0 / 3);

/// What is kept: authorities from old to new, the leaf, and by which authority it was issued.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Material {
    pub authorities: Vec<Issued>,
    pub leaf: Option<Issued>,
    /// When the authority was issued that signed the leaf.
    pub signed_by: Option<Timestamp>,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    AddAuthority,
    /// Write the bundle into both configurations.
    Publish,
    IssueLeaf,
    DropAuthority,
}

impl Material {
    /// The certificates that clients shall trust.
    #[must_use]
    pub fn bundle(&self) -> String {
        self.authorities.iter().map(|authority| authority.certificate.as_str()).collect()
    }

    /// The next step; `None`: all is well. `published`: the bundle as it was last seen in the configurations.
    #[must_use]
    pub fn due(&self, published: &str, now: Timestamp) -> Option<Step> {
        let Some(newest) = self.authorities.last().filter(|newest| newest.ends.0 - now.0 > AUTHORITY_AHEAD.0) else {
            return Some(Step::AddAuthority);
        };
        if published != self.bundle() {
            return Some(Step::Publish);
        }
        let current = self.leaf.as_ref().filter(|_| self.signed_by == Some(newest.issued));
        let Some(leaf) = current.filter(|leaf| leaf.ends.0 - now.0 > LEAF_AHEAD.0) else {
            return Some(Step::IssueLeaf);
        };
        // Replicas, and whoever restores a backup, may serve the last leaf of the old authority for as long as it holds.
        let superseded = Timestamp(newest.issued.0 + LEAF_LIFE.0) <= now && leaf.issued >= newest.issued;
        (self.authorities.len() > 1 && superseded).then_some(Step::DropAuthority)
    }

    /// The material after a step. Publishing changes nothing here.
    ///
    /// # Errors
    /// When a certificate cannot be made.
    pub fn after(&self, step: Step, names: &[String], now: Timestamp) -> Result<Self, TlsError> {
        let mut next = self.clone();
        match step {
            Step::AddAuthority => next.authorities.push(issue::authority(now)?),
            Step::IssueLeaf => {
                if let Some(newest) = self.authorities.last() {
                    next.leaf = Some(issue::leaf(newest, names, now)?);
                    next.signed_by = Some(newest.issued);
                }
            }
            Step::DropAuthority => drop(next.authorities.remove(0)),
            Step::Publish => {}
        }
        Ok(next)
    }
}
