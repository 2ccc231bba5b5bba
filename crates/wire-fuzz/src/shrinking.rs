//! Decides what is left of an input that broke a promise: less and less, as long as it breaks one.

use std::time::{Duration, Instant};

use crate::{caught::tried, target::Target};

/// Longest time to look for a shorter input.
const PATIENCE: Duration = Duration::from_secs(20);

/// A shorter input that still breaks a promise, or `bytes` themselves.
pub(crate) fn shrunk(target: &Target, bytes: &[u8]) -> Vec<u8> {
    let until = Instant::now() + PATIENCE;
    let mut best = bytes.to_vec();
    let mut size = best.len() / 2;
    while size > 0 && Instant::now() < until {
        let before = best.len();
        best = without_pieces(target, best, size, until);
        if best.len() == before {
            size /= 2;
        }
        size = size.min(best.len() / 2);
    }
    best
}

fn without_pieces(target: &Target, mut best: Vec<u8>, size: usize, until: Instant) -> Vec<u8> {
    let mut at = 0;
    while at + size <= best.len() && Instant::now() < until {
        let less = [&best[..at], &best[at + size..]].concat();
        if tried(target, &less).is_err() {
            best = less;
        } else {
            at += size;
        }
    }
    best
}
