//! Decides how costs are compared: each is measured in turn, again and again, so that whatever else
//! the machine does meets all of them alike; then the medians are compared.
//!
//! Knows nothing about what is measured.

use std::time::Duration;

/// Medians of `times` measurements of each cost.
pub(crate) fn of<const N: usize>(times: usize, costs: [&dyn Fn() -> Duration; N]) -> [Duration; N] {
    let mut seen = costs.map(|_| Vec::with_capacity(times));
    for cost in costs {
        cost();
    }
    for _ in 0..times {
        for (list, cost) in seen.iter_mut().zip(costs) {
            list.push(cost());
        }
    }
    seen.map(|mut list| {
        list.sort_unstable();
        list[list.len() / 2]
    })
}

/// One cost as a multiple of another.
pub(crate) fn ratio(cost: Duration, other: Duration) -> f64 {
    cost.as_secs_f64() / other.as_secs_f64()
}

/// Prints a figure beside its bound, and says whether it holds.
pub(crate) fn report(name: &str, figure: f64, most: f64, from: &str) -> bool {
    let holds = figure <= most;
    let verdict = if holds { "holds" } else { "BROKEN" };
    println!("{name}: {figure:.2} (bound {most:.2}, {verdict}) {from}");
    holds
}
