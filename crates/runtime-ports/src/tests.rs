//! Decides whether the values of the ports keep their promises.
