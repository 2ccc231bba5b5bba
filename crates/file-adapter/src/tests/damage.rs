//! Decides.
