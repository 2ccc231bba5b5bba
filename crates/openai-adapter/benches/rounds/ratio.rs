//! Decides how the last round compares with the first, in one figure.
//!
//! Knows nothing about what is compared. The four costs are measured in turn, again and again, so
//! that whatever else the machine does meets all of them alike; then the medians are compared.

use std::time::{Duration, Instant};

/// What the last round may cost beyond its bytes, times the first round.
const MOST: f64 = 1.5;

/// What is compared; each gives its cost once.
pub(crate) struct Costs<F> {
    pub(crate) first_round: F,
    pub(crate) last_round: F,
    pub(crate) first_bytes: F,
    pub(crate) last_bytes: F,
}

/// Prints medians of `times` measurements, and what the last round costs beyond its bytes (all of
/// them, and only those that the first round had not) as a multiple of the first round: in CPU time,
/// and in time on the clock, which cannot be lost while the thread sleeps but holds the work of the
/// server too. The bound is broken when it is in both: the CPU clock of a virtual machine alone
/// loses tens of microseconds at times.
pub(crate) fn report<F: Fn() -> Duration>(name: &str, times: usize, costs: &Costs<F>) -> bool {
    let order = [&costs.first_round, &costs.last_round, &costs.first_bytes, &costs.last_bytes];
    let mut cpu = order.map(|_| Vec::with_capacity(times));
    let mut clock = order.map(|_| Vec::with_capacity(times));
    for _ in 0..times {
        for (place, cost) in order.iter().enumerate() {
            let began = Instant::now();
            cpu[place].push(cost());
            clock[place].push(began.elapsed());
        }
    }
    let in_cpu = line(&format!("{name}/cpu"), cpu.map(median_micros));
    let on_the_clock = line(&format!("{name}/clock"), clock.map(median_micros));
    let holds = in_cpu.min(on_the_clock) <= MOST;
    println!("{name}: bound {MOST:.2}, {}", if holds { "holds" } else { "BROKEN" });
    holds
}

fn line(name: &str, [first, last, first_bytes, last_bytes]: [f64; 4]) -> f64 {
    let ratio = (last - last_bytes) / first;
    let strict = (last - (last_bytes - first_bytes)) / first;
    println!(
        "{name:16} round: first {first:.1} µs, last {last:.1} µs; bytes: first {first_bytes:.1} \
         µs, last {last_bytes:.1} µs; ratio beyond the bytes {ratio:.2}, beyond the added bytes \
         {strict:.2}"
    );
    ratio
}

fn median_micros(mut list: Vec<Duration>) -> f64 {
    list.sort_unstable();
    list[list.len() / 2].as_secs_f64() * 1e6
}
