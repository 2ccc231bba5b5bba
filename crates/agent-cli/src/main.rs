//! The command `agent`: the composition root.

fn main() {}
