//! Provider-neutral traits and the values that cross them.
