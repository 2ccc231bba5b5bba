//! Decides how a run is written down as a script, and what came of it as text.
//!
//! Knows the words; refuses to decide anything about a run: a small executor feeds the machine with
//! what the script says, in the order of its lines.
//!
//! # The agent and its task, before `start`
//! | line | means |
//! |---|---|
//! | `tool a write parallel idempotent limit=80 version=2` | a tool; effects are `read`, `write`, `process`, `external` (default) |
//! | `tool a takes /x an integer` | its schema finds fault with every call, at `/x` |
//! | `schemas wait` | no schema ever answers |
//! | `policy ask a`, `policy deny a "why"`, `policy ask effects` | who may run |
//! | `hook h before_llm after_tool_call repeatable` | a hook, and where it runs |
//! | `with before_cycle interruptions approvals resources` | callbacks of the host |
//! | `answers` | the answer has a schema; what is told of it is shown as `…` |
//! | `cycles 3`, `task_cycles 1`, `silence continue`, `no interruption`, `images`, `without a` | limits and terms |
//! | `lifetime 100`, `wait 50` | of an approval, in milliseconds |
//! | `sub_agent reader "reads"`, `delegates depth=1 running=2 total=3`, `depth 1` | who it may delegate to, how far, and how deep it is |
//! | `instructions "…"`, `prompt "…"`, `workspace w`, `state {…}`, `said user "…"` | what the run begins with |
//! | `budget tokens=9 cost=9 calls=2 tools=3 tool:a=1 uncached=9 runs=2` | budgets of the agent; `task_budget …` of the task, `above …` of a run above |
//! | `price 2 1 3`, `window 900`, `output 50` | nano-dollars for a token of a prompt, of a cached one, of an answer; limits of the model and of an answer |
//! | `context reader a`, `context never`, `memory m recalls observes`, `compact first` | how the context is kept small |
//! | `meta {…}`, `agent_meta {…}` | metadata of the task, and of the agent |
//!
//! # What happens, from `start` on
//! | line | means |
//! |---|---|
//! | `start` | the run starts, and the profile of its model is found (`start alone`: it is not) |
//! | `model "text" a(1){"x":1}` | the model answers; `model cut …`, `model fails`, `model halted`, `model unauditable`, `model unaudited …` |
//! | `1 "text" finish state {…} meta {…} image` | the tool of call 1 replies; `1 fails`, `1 lost`, `1 halted`, `1 panics`, `1 error code "text"` |
//! | `hook h inserts 0 "text"` | and `drops 0`, `hides a`, `gives "text" finish`, `patches b(9){}`, `nothing`, `fails`, `halted` |
//! | `provider 1 approves` | and `denies "why"`, `asks`, `passes`, `lapses`, `fails`, `halted` |
//! | `answer 1 approves` | what the wait for a human gave: also `forever`, `denies`, `lapses`, `shrugs`, `broken` |
//! | `child task-1 "answer"` | how a child ended: also `asks "what"`, `fails`, `limit "so far"`, `stopped`, `short tokens`, `suspended`, `unstarted`, `panics`, `lost`, and `used 5` tokens |
//! | `steered`, `steered "why not"`, `waited` | a child heard, or did not; the time of a wait is over |
//! | `approve 1`, `approve 1 forever`, `deny 1 "why"` | somebody decides through the host |
//! | `resources "text" skill "name" "text"` | what was loaded: also `fails`, `halted` |
//! | `verdict good`, `verdict /n must be odd` | whether an answer follows its schema |
//! | `inputs "text"`, `interruptions "text"` | what a provider of messages gave; also `none`, `fail`, `halted` |
//! | `summary "text"`, `memory "text"`, `artifact` | what a summariser, a memory provider, an artifact store gave; also `fails`, `halted`; `model overlong` |
//! | `steer "text"`, `cancel`, `suspend`, `resume`, `time` | and `at 700` sets the clock |
//! | `others use tokens=5`, `budgets wait` | what another run below the same one used; no budget answers from then on |
//! | `store` | the run is stored and loaded, as if in another process |
//! | `crash` | the same, and nothing that was in flight comes back; `resume` goes on |
//! | `show tokens`, `show summary`, `show warnings`, `show error` | sizes of all requests, what the summariser was asked, and what was left |
//! | `show request`, `show history`, `show usage`, `show results`, `show approvals` | more to compare |
//!
//! `long(5)` is a text of five tokens.
//!
//! # What came of it
//! One line, wrapped where it is long, for each line of the script that anything came of.
//! Budgets answer at once, from a tree of their own. `-> reserve …` asks one, `charged …` settles it.
//! `-> model` is an effect, `-x 3 withdraw` a halt, `!! …` a refusal, everything else an event; a line
//! with `#` was asked for with `show`, and `= …` is what is left in the end. What `start` does up to
//! the profile is left out, schemas are checked at once, and only faults are seen.

mod agent;
mod budgets;
mod outcome;
mod run;
mod show;
mod words;

use run::Run;
use runtime_decision::{Definition, Happened, Input, Machine, Out, Refused};
use runtime_ports::{ModelMessage, ToolDescriptor};

/// Runs a script and compares what came of it, line by line. With `UPDATE=1` it prints the new
/// text in the place of failing.
#[track_caller]
pub(crate) fn check(script: &str, expected: &str) {
    let actual = happens(script);
    let (actual, expected) = (lines(&actual), lines(expected));
    if actual == expected {
        return;
    }
    let place = std::panic::Location::caller();
    if std::env::var_os("UPDATE").is_some() {
        println!("UPDATE {}:{}\n{}\nEND", place.file(), place.line(), actual.join("\n"));
        return;
    }
    panic!("what came of the script is not what was expected\n{}", difference(&expected, &actual));
}

/// What comes of a script.
pub(crate) fn happens(script: &str) -> String {
    let mut run = Run::default();
    for line in lines(script) {
        run.line(line);
    }
    run.told()
}

/// The run that a script leaves.
pub(crate) fn machine(script: &str) -> Machine {
    let mut run = Run::default();
    for line in lines(script) {
        run.line(line);
    }
    run.into_machine()
}

/// The message of a line such as `assistant "hm" a(1)`.
pub(crate) fn said(line: &str) -> ModelMessage {
    let words = words::words(line);
    words::message(&words.iter().map(|word| &**word).collect::<Vec<_>>())
}

/// A message as a line.
pub(crate) fn shown(message: &ModelMessage) -> String {
    show::message(message, false)
}

/// Gives a run one input and forgets what follows.
pub(crate) fn feed(machine: &mut Machine, happened: Happened) -> Result<(), Refused> {
    machine.handle(Input { at_ms: 0, happened }, &mut Out::default())
}

/// An agent without tools.
pub(crate) fn definition() -> Definition {
    agent::Agent::default().definition
}

/// A tool that reaches anything.
pub(crate) fn tool(name: &str) -> ToolDescriptor {
    agent::tool(name, &[])
}

/// A tool with the flags of a script.
pub(crate) fn tool_with(name: &str, flags: &[&str]) -> ToolDescriptor {
    agent::tool(name, flags)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Both texts with what is only in one of them marked, after what they have in common.
fn difference(expected: &[&str], actual: &[&str]) -> String {
    let same = expected.iter().zip(actual).take_while(|(left, right)| left == right).count();
    let context = expected[..same].iter().map(|line| format!("  {line}"));
    let missing = expected[same..].iter().map(|line| format!("- {line}"));
    let surplus = actual[same..].iter().map(|line| format!("+ {line}"));
    context.chain(missing).chain(surplus).collect::<Vec<_>>().join("\n")
}
