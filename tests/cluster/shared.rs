//! The control planes of this test binary.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, OnceCell, RwLock};

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

/// Runs a long test on a control plane of its own, beside those that want the first one for themselves.
pub fn on_own_plane(test: impl AsyncFnOnce(&Plane)) {
    runtime().block_on(async { test(&start().await).await });
}

/// Runs a test beside others.
pub fn on_plane(test: impl AsyncFnOnce(&Plane)) {
    runtime().block_on(async { test(&*plane().await.read().await).await });
}

/// Runs a test that stops or breaks parts: alone, and it leaves them running.
pub fn alone_on_plane(test: impl AsyncFnOnce(&Plane)) {
    runtime().block_on(async { test(&*plane().await.write().await).await });
}

/// Runs a test that needs a whole control plane for itself and leaves nothing that the next one minds. Two such tests run at
/// a time; a plane is made for the first one on it, and made anew after one that failed.
pub fn alone_on_stage(test: impl AsyncFnOnce(&Plane)) {
    static STAGES: [Mutex<Option<Plane>>; 2] = [Mutex::const_new(None), Mutex::const_new(None)];
    runtime().block_on(async {
        let mut stage = tokio::select! {
            stage = STAGES[0].lock() => stage,
            stage = STAGES[1].lock() => stage,
        };
        let plane = match stage.take() {
            Some(plane) => plane,
            None => start().await,
        };
        test(&plane).await;
        *stage = Some(plane);
    });
}
