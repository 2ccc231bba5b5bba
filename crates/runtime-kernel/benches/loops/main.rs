//! Decides what the two loops cost beyond the world that they are run on, in CPU time of one thread.
//!
//! Knows nothing about real providers, hosts or tools. `docs/performance.md` says what came out and
//! what it means.

mod cpu_time;
mod scripted;
mod session;
mod subagent;

use std::time::Duration;

use criterion::Criterion;

use crate::cpu_time::CpuTime;

fn main() {
    let settings = Criterion::default()
        .with_measurement(CpuTime)
        .without_plots()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(1));
    let mut criterion = settings.configure_from_args();
    session::bench(&mut criterion);
    subagent::bench(&mut criterion);
    criterion.final_summary();
}
