//! Decides the course of a run: which inputs are kept to be changed again, and when it is over.
//!
//! Without coverage, an input is worth keeping when it went a way that none did before. Invariant:
//! the inputs depend on the seed and the corpus alone, however fast the machine is.

use std::{collections::BTreeSet, time::Instant};

use crate::{
    caught::tried,
    chance::Chance,
    mutation::{LONGEST, Mutator},
    shrinking::shrunk,
    target::{Shape, Target},
};

/// Most inputs that are kept beside the corpus.
const MOST_KEPT: usize = 4_096;

/// A run over one target.
pub struct Campaign {
    target: &'static Target,
    pool: Vec<Vec<u8>>,
    shapes: BTreeSet<Shape>,
    mutator: Mutator,
    corpus: usize,
}

/// An input that broke a promise.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The input, shortened as far as it still breaks one.
    pub input: Vec<u8>,
    /// Which one.
    pub message: String,
    /// How many inputs were tried before.
    pub after: u64,
}

/// What was done.
#[derive(Debug, Clone)]
pub struct Report {
    /// Inputs that were tried.
    pub tried: u64,
    /// Different ways that they went.
    pub shapes: usize,
    /// What broke; the run ends with the first.
    pub finding: Option<Finding>,
}

impl Campaign {
    /// A run that begins with the inputs of `corpus`.
    #[must_use]
    pub fn new(target: &'static Target, corpus: Vec<Vec<u8>>, seed: u64) -> Self {
        let mutator = Mutator { chance: Chance::new(seed), vocabulary: target.vocabulary };
        let kept = corpus.len();
        Self { target, pool: corpus, shapes: BTreeSet::new(), mutator, corpus: kept }
    }

    /// Tries the corpus, then changed inputs until `until`.
    pub fn run(&mut self, until: Instant) -> Report {
        let mut count = 0;
        let mut finding = None;
        for input in self.pool.clone() {
            finding = finding.or_else(|| self.attempt(&input, count));
            count += 1;
        }
        while finding.is_none() && Instant::now() < until {
            let input = self.next();
            finding = self.attempt(&input, count);
            count += 1;
        }
        Report { tried: count, shapes: self.shapes.len(), finding }
    }

    fn next(&mut self) -> Vec<u8> {
        let Self { pool, mutator, .. } = self;
        let empty = Vec::new();
        let parent = pool.get(mutator.chance.below(pool.len())).unwrap_or(&empty);
        let other = pool.get(mutator.chance.below(pool.len())).unwrap_or(&empty);
        mutator.mutate(parent, other)
    }

    fn attempt(&mut self, input: &[u8], after: u64) -> Option<Finding> {
        match tried(self.target, input) {
            Ok(shape) => {
                self.keep(shape, input);
                None
            }
            Err(_) => Some(self.found(input, after)),
        }
    }

    fn keep(&mut self, shape: Shape, input: &[u8]) {
        let room = self.pool.len() < self.corpus + MOST_KEPT && input.len() <= LONGEST;
        if self.shapes.insert(shape) && room && !self.pool.iter().any(|kept| kept == input) {
            self.pool.push(input.to_vec());
        }
    }

    fn found(&self, input: &[u8], after: u64) -> Finding {
        let input = shrunk(self.target, input);
        let message = tried(self.target, &input).err().unwrap_or_default();
        Finding { input, message, after }
    }
}
