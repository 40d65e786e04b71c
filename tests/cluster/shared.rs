//! The control planes of this test binary, and how many tests work at a time.
//!
//! A test waits for the plane, stage or node that it wants and then, unless it is on a stage, for its turn: whoever waits takes
//! nobody's place. So the binary is quickest where as many threads are given as it has tests (`make test` does): the two stages
//! are never without work then, and on two cores one test works beside them. With fewer threads, tests that wait for the same
//! plane keep others from beginning.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, OnceCell, RwLock, Semaphore, SemaphorePermit};

use crate::plane::{Plane, start};

/// The threads of all tests.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Builder::new_multi_thread().enable_all().build().expect("a runtime can be made"))
}

async fn plane() -> &'static RwLock<Plane> {
    static PLANE: OnceCell<RwLock<Plane>> = OnceCell::const_new();
    PLANE.get_or_init(async || RwLock::new(start().await)).await
}

/// Those beside the stages; a stage that nobody wants any more leaves its own to them.
fn turns() -> &'static Semaphore {
    static TURNS: OnceLock<Semaphore> = OnceLock::new();
    TURNS.get_or_init(|| Semaphore::new(available_parallelism().map_or(1, |cores| cores.get().max(2) - 1)))
}

/// Waits for a turn beside the stages; asked for after what the test works on, never before.
pub async fn turn() -> SemaphorePermit<'static> {
    turns().acquire().await.expect("turns are never closed")
}

/// Runs a long test on a control plane of its own, beside those that want the first one for themselves.
pub fn on_own_plane(test: impl AsyncFnOnce(&Plane)) {
    runtime().block_on(async {
        let _turn = turn().await;
        test(&start().await).await;
    });
}

/// Runs a test beside others.
pub fn on_plane(test: impl AsyncFnOnce(&Plane)) {
    runtime().block_on(async {
        let plane = plane().await.read().await;
        let _turn = turn().await;
        test(&plane).await;
    });
}

/// Runs a test that stops or breaks parts: alone, and it leaves them running.
pub fn alone_on_plane(test: impl AsyncFnOnce(&Plane)) {
    runtime().block_on(async {
        let plane = plane().await.write().await;
        let _turn = turn().await;
        test(&plane).await;
    });
}

/// Runs a test that needs a whole control plane for itself and leaves nothing that the next one minds. Two such tests run at
/// a time; a plane is made for the first one on it, and made anew after one that failed.
pub fn alone_on_stage(test: impl AsyncFnOnce(&Plane)) {
    static STAGES: [Mutex<Option<Plane>>; 2] = [Mutex::const_new(None), Mutex::const_new(None)];
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    WAITING.fetch_add(1, Ordering::Relaxed);
    runtime().block_on(async {
        let mut stage = tokio::select! {
            stage = STAGES[0].lock() => stage,
            stage = STAGES[1].lock() => stage,
        };
        WAITING.fetch_sub(1, Ordering::Relaxed);
        let plane = match stage.take() {
            Some(plane) => plane,
            None => start().await,
        };
        test(&plane).await;
        *stage = Some(plane);
        if WAITING.load(Ordering::Relaxed) == 0 {
            turns().add_permits(1);
        }
    });
}
