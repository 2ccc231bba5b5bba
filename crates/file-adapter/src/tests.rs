//! Decides whether files keep what they were given.
