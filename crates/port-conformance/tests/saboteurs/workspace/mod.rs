//! The saboteur of the workspace port.
