//! Holds the file above to its promises.
