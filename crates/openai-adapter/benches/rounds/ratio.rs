//! Decides how the last round compares with the first, in one figure.
//!
//! Knows nothing about what is compared. The four costs are measured in turn, again and again, so
//! that whatever else the machine does meets all of them alike; then the medians are compared.

use std::time::Duration;

/// What is compared; each gives its cost once.
pub(crate) struct Costs<F> {
    pub(crate) first_round: F,
    pub(crate) last_round: F,
    pub(crate) first_bytes: F,
    pub(crate) last_bytes: F,
}

/// Prints the medians of `times` measurements, and what the last round costs beyond its bytes, as a
/// multiple of the first round.
pub(crate) fn report<F: Fn() -> Duration>(name: &str, times: usize, costs: &Costs<F>) {
    let order = [&costs.first_round, &costs.last_round, &costs.first_bytes, &costs.last_bytes];
    let mut measured = order.map(|_| Vec::with_capacity(times));
    for _ in 0..times {
        for (cost, list) in order.iter().zip(&mut measured) {
            list.push(cost());
        }
    }
    let [first, last, first_bytes, last_bytes] = measured.map(median_micros);
    let beyond_all = (last - last_bytes) / first;
    let beyond_added = (last - (last_bytes - first_bytes)) / first;
    println!(
        "{name}/ratio            first round {first:.1} µs, last {last:.1} µs, bytes of the first \
         {first_bytes:.1} µs, of the last {last_bytes:.1} µs\n\
         {name}/ratio            beyond its bytes the last costs {beyond_all:.2} of the first; \
         beyond the bytes that were added, {beyond_added:.2}"
    );
}

fn median_micros(mut list: Vec<Duration>) -> f64 {
    list.sort_unstable();
    list[list.len() / 2].as_secs_f64() * 1e6
}
