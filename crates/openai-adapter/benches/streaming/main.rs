//! Decides whether reading an answer costs no more than was promised, in CPU time of one thread.
//!
//! Knows the bounds: 2,000 deltas of 4 characters cost at most [`MOST_IN_A_BURST`] times a loop
//! that only splits lines and parses each JSON when they arrive together, and at most
//! [`MOST_ONE_BY_ONE`] times when each has its own write; ten times the deltas cost at most
//! [`MOST_GROWTH`] times ten times as much; a call at round 10 and at round 200 costs at most
//! [`MOST_TIMES_RAW`] times a loop over `reqwest`; a line that does not end costs at most
//! [`MOST_FOR_A_LINE`]; the first delta is there within [`MOST_UNTIL_FIRST`]. With `--check`, a
//! broken bound is a failure.

#[path = "../rounds/conversation.rs"]
mod conversation;
#[path = "../../../runtime-kernel/benches/loops/cpu_time.rs"]
mod cpu_time;
mod medians;
#[path = "../rounds/placement.rs"]
mod placement;
mod plain;
mod provider;
mod session;

use std::{process::ExitCode, time::Duration};

use crate::{
    medians::{ratio, report},
    plain::Plain,
    provider::{Mode, Provider},
    session::Session,
};

const MOST_IN_A_BURST: f64 = 2.0;
const MOST_ONE_BY_ONE: f64 = 1.3;
const MOST_GROWTH: f64 = 1.25;
const MOST_TIMES_RAW: f64 = 1.25;
const MOST_FOR_A_LINE: Duration = Duration::from_millis(100);
const MOST_UNTIL_FIRST: Duration = Duration::from_millis(1);

/// Deltas of an answer.
const DELTAS: usize = 2_000;
const BURSTS: usize = 200;
const ONE_BY_ONE: usize = 40;
const CALLS: usize = 1_000;
const LINES: usize = 10;
const FIRSTS: usize = 200;

fn main() -> ExitCode {
    placement::run(compared)
}

fn compared() -> ExitCode {
    let checks = std::env::args().any(|argument| argument == "--check");
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let times = |times: usize| if is_bench { times } else { 1 };
    let provider = Provider::start();
    let (session, plain) = (Session::new(&provider), Plain::new(&provider));
    let sides: Sides<'_> = (&session, &plain);
    let held = [
        streamed("in a burst", Mode::Burst, times(BURSTS), sides),
        streamed("in a burst of chunks", Mode::Chunks, times(BURSTS), sides),
        streamed("one by one", Mode::OneByOne, times(ONE_BY_ONE), sides),
        growth(times(BURSTS / 4), &session),
        calls(10, times(CALLS), sides),
        calls(200, times(CALLS / 4), sides),
        line(times(LINES), &session),
        first(times(FIRSTS), &session, &provider),
    ];
    match checks && held.contains(&false) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

type Sides<'a> = (&'a Session, &'a Plain<'a>);

fn streamed(name: &str, mode: Mode, times: usize, (session, plain): Sides<'_>) -> bool {
    let most = if mode == Mode::OneByOne { MOST_ONE_BY_ONE } else { MOST_IN_A_BURST };
    let name = format!("{DELTAS} deltas {name}, times the plain loop");
    let [adapter, plain] =
        medians::of(times, [&|| session.reads(mode, DELTAS), &|| plain.reads(mode, DELTAS)]);
    report(&name, ratio(adapter, plain), most, &format!("{adapter:?} and {plain:?}"))
}

fn growth(times: usize, session: &Session) -> bool {
    let reads = |deltas| move || session.reads(Mode::Burst, deltas);
    let [few, many] = medians::of(times, [&reads(DELTAS), &reads(DELTAS * 10)]);
    let name = format!("{} deltas, times ten times {DELTAS}", DELTAS * 10);
    report(&name, ratio(many, few * 10), MOST_GROWTH, &format!("{many:?} and {few:?}"))
}

fn calls(round: usize, times: usize, (session, plain): Sides<'_>) -> bool {
    let (adapter, raw) = (session.before_round(round), plain.before_round(round));
    let [adapter, raw] = medians::of(times, [&|| adapter.call(), &|| raw.call()]);
    let name = format!("a call at round {round}, times a loop over reqwest");
    report(&name, ratio(adapter, raw), MOST_TIMES_RAW, &format!("{adapter:?} and {raw:?}"))
}

fn line(times: usize, session: &Session) -> bool {
    let [cost] = medians::of(times, [&|| session.breaks_on(Mode::Line)]);
    let name = "a line of 32 MiB without an end, in ms of CPU";
    report(name, cost.as_secs_f64() * 1e3, MOST_FOR_A_LINE.as_secs_f64() * 1e3, "")
}

fn first(times: usize, session: &Session, provider: &Provider) -> bool {
    let [wait] = medians::of(times, [&|| session.until_first(provider)]);
    let name = "from the bytes of the first delta to its caller, in ms";
    report(name, wait.as_secs_f64() * 1e3, MOST_UNTIL_FIRST.as_secs_f64() * 1e3, "")
}
