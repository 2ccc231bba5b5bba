//! An honest in-memory adapter of every port, with scripts and planned faults.
