//! Decides whether faults and scenarios cover each other.
//!
//! Knows no port. Every run has a runtime of its own in paused time, since fakes need no sockets
//! and no threads: a matrix takes seconds, and says the same each time.

use std::fmt::{Debug, Write as _};

use port_conformance::{Declares, Scenario, Verdict};

/// An enumeration of faults, with all of them in `ALL`.
macro_rules! faults {
    ($(#[$doc:meta])* $name:ident { $($(#[$fault_doc:meta])* $fault:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$fault_doc])* $fault),* }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$fault),*];
        }
    };
}

pub(crate) use faults;

/// Tries every scenario on a subject without a fault, and with each fault.
///
/// # Panics
/// When a scenario does not hold without a fault, when a fault breaks no scenario, and when a
/// scenario falls to no fault.
pub(crate) fn prove<H, N, F>(
    scenarios: &[Scenario<H, N>],
    faults: &[F],
    harness: impl Fn(Option<F>) -> Box<H>,
) where
    H: Declares<N> + ?Sized,
    N: Copy + Debug,
    F: Copy + Debug,
{
    all_hold(scenarios, &*harness(None));
    let broken_by = |fault: &F| {
        let subject = harness(Some(*fault));
        let broken = scenarios.iter().filter(|scenario| falls(scenario, &*subject));
        (format!("{fault:?}"), broken.map(|scenario| scenario.name).collect::<Vec<_>>())
    };
    let rows: Vec<_> = faults.iter().map(broken_by).collect();
    println!("{}", shown(&rows, scenarios.len()));
    let harmless: Vec<_> = rows.iter().filter(|row| row.1.is_empty()).map(|row| &row.0).collect();
    assert!(harmless.is_empty(), "these faults break no scenario: {harmless:#?}");
    let stands = |name: &str| !rows.iter().any(|row| row.1.contains(&name));
    let names = scenarios.iter().map(|scenario| scenario.name);
    let standing: Vec<_> = names.filter(|name| stands(name)).collect();
    assert!(standing.is_empty(), "these scenarios fall to no fault: {standing:#?}");
}

/// Tries every scenario on a subject that does nothing wrong.
///
/// # Panics
/// When one does not hold.
pub(crate) fn all_hold<H, N>(scenarios: &[Scenario<H, N>], sound: &H)
where
    H: Declares<N> + ?Sized,
    N: Copy + Debug,
{
    let verdicts = scenarios.iter().map(|scenario| (scenario.name, judged(scenario, sound)));
    let unsound: Vec<_> = verdicts.filter(|(_, verdict)| *verdict != Verdict::Held).collect();
    assert!(unsound.is_empty(), "without a fault, these do not hold: {unsound:#?}");
}

fn judged<H, N>(scenario: &Scenario<H, N>, subject: &H) -> Verdict
where
    H: Declares<N> + ?Sized,
    N: Copy + Debug,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without IO can be built");
    runtime.block_on(scenario.judge(subject))
}

/// Whether a claim of the scenario is broken. A panic is not counted.
fn falls<H, N>(scenario: &Scenario<H, N>, subject: &H) -> bool
where
    H: Declares<N> + ?Sized,
    N: Copy + Debug,
{
    match judged(scenario, subject) {
        Verdict::Broke(what) => !what.starts_with("panicked"),
        Verdict::Held | Verdict::Skipped(_) => false,
    }
}

fn shown(rows: &[(String, Vec<&str>)], scenarios: usize) -> String {
    let mut text = format!("{} faults, {scenarios} scenarios\n", rows.len());
    for (fault, broken) in rows {
        let _ = writeln!(text, "{fault} ({}): {}", broken.len(), broken.join(", "));
    }
    text
}
