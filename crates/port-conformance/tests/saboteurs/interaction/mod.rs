//! The saboteur of the interaction port.
