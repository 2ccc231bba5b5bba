//! The saboteur of the turn port.
