//! Receipts as fsynced JSON lines in a folder of the user.
