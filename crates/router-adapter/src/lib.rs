//! Intelligence over any number of model sessions: catalogue, operation tree, receipts.
