//! The cycle engine's driver: performs the effects of `runtime-decision` through the ports.
//!
//! Knows what surrounds a run: its clock, its hooks, who decides and who watches. Refuses to know
//! the rules of a run, which the decision machine holds alone.
