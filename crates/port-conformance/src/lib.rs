//! The named scenarios that every adapter of a port must hold.
