//! Ctrl-C: once means "stop and keep the best plan so far", twice means "stop".

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use super::exit::Exit;

static PRESSED: AtomicU32 = AtomicU32::new(0);

/// Begins to listen. Without a handler (a platform that has none) Ctrl-C ends the process as ever.
pub(super) fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let _without_handler = ctrlc::set_handler(|| {
            if PRESSED.fetch_add(1, Ordering::SeqCst) >= 1 {
                #[expect(clippy::exit, clippy::disallowed_methods, reason = "a handler has nobody to return to")]
                std::process::exit(i32::from(Exit::Interrupted.number()));
            }
        });
    });
}

/// Whether Ctrl-C was pressed since [`listen`].
pub(super) fn pressed() -> bool {
    PRESSED.load(Ordering::SeqCst) > 0
}
