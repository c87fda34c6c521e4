//! Locks that no panic poisons.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A panic in another thread leaves no value half changed here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
