//! Decides where a comparison runs: on one processor, and from a copy of the program.
//!
//! Knows nothing about what is compared. To wake a thread that sleeps on another processor costs
//! several times what a small call does, and whether a server happens to run there changes from one
//! connection to the next. A program that the linker wrote a moment ago pays a fifth more for each
//! wait than the same bytes once they are copied, as every installed program was; it is likely that
//! the linker leaves its pages scattered in memory.

use std::process::{Command, ExitCode};

/// Variable of the environment that says to the copy that it is one.
const MARK: &str = "BENCH_IS_A_COPY";

/// Runs `program` there.
pub(crate) fn run(program: fn() -> ExitCode) -> ExitCode {
    if std::env::var_os(MARK).is_some() {
        stay();
        return program();
    }
    let itself = std::env::current_exe().expect("a program has a place");
    let folder = itself.parent().expect("it is in a folder");
    let folder = tempfile::tempdir_in(folder).expect("room beside the program");
    let copy = folder.path().join("copy");
    std::fs::copy(&itself, &copy).expect("room for a copy");
    let ended = Command::new(copy).args(std::env::args().skip(1)).env(MARK, "yes").status();
    let ended = ended.expect("a copy runs as the program did");
    if ended.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Keeps this thread, and all that it starts from now on, on its processor.
#[cfg(target_os = "linux")]
fn stay() {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).expect("a processor that this thread runs on");
}

/// Leaves it to the system.
#[cfg(not(target_os = "linux"))]
const fn stay() {}
