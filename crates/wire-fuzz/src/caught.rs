//! Decides how a panic of a target becomes a text, and that nothing else is printed of it.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Mutex, PoisonError},
};

use crate::target::{Shape, Target};

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Keeps the text of each panic, with its place, instead of printing it.
pub fn keep_panics_quiet() {
    panic::set_hook(Box::new(|panic| {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic.to_string());
    }));
}

/// Tries one input; the text of the panic when a promise was broken.
pub(crate) fn tried(target: &Target, bytes: &[u8]) -> Result<Shape, String> {
    panic::catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))).map_err(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        last.unwrap_or_else(|| "panicked".to_owned())
    })
}
