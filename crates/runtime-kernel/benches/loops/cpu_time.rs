//! Decides what the benches count: CPU time of the thread that measures, in user and system mode.
//!
//! Knows nothing about what is measured. Time in which the thread waits, or in which another one
//! works, is not counted, so that a busy machine disturbs the figures less than a clock would.

use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use rustix::time::{ClockId, clock_gettime};

/// Counts the CPU time of the current thread.
pub(crate) struct CpuTime;

impl CpuTime {
    /// CPU time that the current thread has used so far.
    pub(crate) fn now() -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
    }
}

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        Self::now()
    }

    fn end(&self, started: Duration) -> Duration {
        Self::now() - started
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
