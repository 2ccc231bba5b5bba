//! Decides what may befall one write of a store.
//!
//! Knows nothing about which store: a harness makes it happen, or declares that it cannot.

use std::time::Duration;

/// What befalls the next append that reaches the store, and none after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It takes so much longer, for example since somebody holds a lock on the store.
    Slow(Duration),
    /// It fails before anything is kept, for example on a full disk.
    Refused,
    /// It is kept whole, and the reply is lost, for example with the connection.
    ReplyLost,
}
