//! A small rule-based model that needs no network and says so.
