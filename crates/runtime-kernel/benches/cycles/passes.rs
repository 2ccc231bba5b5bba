//! Decides how a cost is measured: passes in turn, the least and the middle of each side.
//!
//! Knows CPU time alone. The least is what the work costs when nothing disturbs it; the two sides
//! take turns, so that both meet the same disturbances.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::{cpu_time::CpuTime, scripted::Look};

/// What one side cost in every pass.
#[derive(Default)]
pub(crate) struct Costs(Vec<Duration>);

impl Costs {
    pub(crate) fn add(&mut self, cost: Duration) {
        self.0.push(cost);
    }

    pub(crate) fn least(&self) -> Duration {
        self.0.iter().min().copied().unwrap_or_default()
    }

    pub(crate) fn middle(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// Reads the CPU time when certain requests come.
#[derive(Default)]
pub(crate) struct Readings(Mutex<Vec<Duration>>);

impl Readings {
    /// Readings at the requests of these numbers, in rising order.
    pub(crate) fn at(numbers: &'static [u32]) -> (Arc<Self>, Look) {
        let readings = Arc::new(Self(Mutex::new(Vec::with_capacity(numbers.len()))));
        let taken = Arc::clone(&readings);
        let look: Look = Box::new(move |number, _| {
            if numbers.contains(&number) {
                taken.0.lock().unwrap_or_else(PoisonError::into_inner).push(CpuTime::now());
            }
        });
        (readings, look)
    }

    /// The cost between two readings for each of `cycles` cycles.
    pub(crate) fn cost(&self, from: usize, to: usize, cycles: u32) -> Duration {
        let readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (readings[to] - readings[from]) / cycles
    }
}
