//! The saboteur of the receipts port.
