//! Writes that go on beside the loop: several at once, begun in the order in which they were given.
//!
//! Of one thing there is one write at a time. What is wanted of it meanwhile waits for that, and what is not wanted any
//! more by then is not written: so of two writes the one that was decided later is the one that stays. What did not go is
//! not tried again at once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::mpsc::{self, UnboundedReceiver};
use futures::{FutureExt, StreamExt, stream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant};

use crate::controller::acts::Ended;

/// A watch that has not shown a write for so long is not waited for.
pub(super) const SHOWN_WITHIN: Duration = Duration::from_secs(10);
/// What came too late is decided again once the watch has had a moment.
const CHANGED_AGAIN: Duration = Duration::from_millis(100);
/// What was refused or not answered is not tried all the time.
pub(super) const FAILED_AGAIN: Duration = Duration::from_secs(2);

/// What is to be written, by what it is written on.
pub struct Beside<K, T> {
    desk: Arc<Desk<K, T>>,
    answers: UnboundedReceiver<(K, T, Ended)>,
    /// What did not go, and from when on it may be tried again.
    again: BTreeMap<K, Instant>,
    /// Ends with this.
    _writer: JoinSet<()>,
}

/// How writes are made.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Under way at once.
    pub at_once: usize,
    /// When so few are left the next ones are wanted; also when none is.
    pub low: usize,
}

struct Desk<K, T> {
    held: Mutex<Held<K, T>>,
    /// Called when something may be begun.
    come: Notify,
}

struct Held<K, T> {
    waiting: VecDeque<(K, T)>,
    going: BTreeMap<K, T>,
}

impl<K, T> Beside<K, T>
where
    K: Ord + Clone + Send + 'static,
    T: PartialEq + Clone + Send + 'static,
{
    /// Calls `few` when the next ones are wanted.
    pub fn new<F>(pace: Pace, few: Arc<Notify>, write: impl Fn(T) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Ended> + Send + 'static,
    {
        let held = Held { waiting: VecDeque::new(), going: BTreeMap::new() };
        let desk: Arc<Desk<K, T>> = Arc::new(Desk { held: Mutex::new(held), come: Notify::new() });
        let (answer, answers) = mpsc::unbounded();
        let (mut writer, own) = (JoinSet::new(), Arc::clone(&desk));
        writer.spawn(async move {
            let next = stream::unfold(Arc::clone(&own), |desk| async { Some((desk.next().await, desk)) });
            let written = next.map(move |(key, item)| write(item.clone()).map(|ended| (key, item, ended)));
            let mut written = std::pin::pin!(written.buffer_unordered(pace.at_once));
            while let Some((key, item, ended)) = written.next().await {
                // Who does not listen any more does not lead any more.
                drop(answer.unbounded_send((key.clone(), item, ended)));
                let left = own.end(&key);
                if left == 0 || left == pace.low {
                    few.notify_one();
                }
            }
        });
        Self { desk, answers, again: BTreeMap::new(), _writer: writer }
    }

    /// What is not carried out yet.
    #[must_use]
    pub fn count(&self) -> usize {
        let held = self.desk.lock();
        held.waiting.len() + held.going.len()
    }

    /// Whether it would be taken: it has not failed a moment ago.
    #[must_use]
    pub fn takes(&self, key: &K) -> bool {
        self.again.get(key).is_none_or(|at| *at <= Instant::now())
    }

    /// Writes these too, after all that waits.
    pub fn add(&self, more: impl IntoIterator<Item = (K, T)>) {
        self.desk.lock().waiting.extend(more);
        self.desk.come.notify_one();
    }

    /// Writes these and nothing else that has not begun. What is being written in just this way is left to it.
    pub fn want(&self, wanted: impl IntoIterator<Item = (K, T)>) {
        let mut held = self.desk.lock();
        let wanted = wanted.into_iter().filter(|(key, item)| self.takes(key) && held.going.get(key) != Some(item));
        held.waiting = wanted.collect();
        drop(held);
        self.desk.come.notify_one();
    }

    /// How writes ended since this was asked last.
    pub fn answers(&mut self) -> Vec<(K, T, Ended)> {
        let now = Instant::now();
        self.again.retain(|_, at| *at > now);
        let mut found = Vec::new();
        while let Some(Some((key, item, ended))) = self.answers.next().now_or_never() {
            let again = match &ended {
                Ended::Done => None,
                Ended::Changed | Ended::Fenced => Some(CHANGED_AGAIN),
                Ended::Failed(_) => Some(FAILED_AGAIN),
            };
            if let Some(again) = again {
                self.again.insert(key.clone(), now + again);
            }
            found.push((key, item, ended));
        }
        found
    }
}

impl<K: Ord + Clone, T: Clone> Desk<K, T> {
    fn lock(&self) -> MutexGuard<'_, Held<K, T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first that waits of what is not being written.
    async fn next(&self) -> (K, T) {
        loop {
            let next = self.lock().begin();
            if let Some(next) = next {
                return next;
            }
            self.come.notified().await;
        }
    }

    /// How many are left.
    fn end(&self, key: &K) -> usize {
        let mut held = self.lock();
        held.going.remove(key);
        self.come.notify_one();
        held.waiting.len() + held.going.len()
    }
}

impl<K: Ord + Clone, T: Clone> Held<K, T> {
    fn begin(&mut self) -> Option<(K, T)> {
        let at = self.waiting.iter().position(|(key, _)| !self.going.contains_key(key))?;
        let (key, item) = self.waiting.remove(at)?;
        self.going.insert(key.clone(), item.clone());
        Some((key, item))
    }
}
