//! Whole-system tests, and the doctests that show the swap of an adapter.
