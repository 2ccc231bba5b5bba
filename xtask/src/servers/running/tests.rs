//! A server is gone when its owner is, and one that does not start is told.

use super::*;

fn output() -> File {
    File::create("/dev/null").unwrap()
}

fn is_alive(process: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Who is dead and not waited for is dead.
    !state.is_empty() && !state.contains(") Z ")
}

fn children_of(process: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    list.unwrap_or_default().split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn within(most: Duration, holds: impl Fn() -> bool) -> bool {
    let until = Instant::now() + most;
    while !holds() && Instant::now() < until {
        thread::sleep(Duration::from_millis(10));
    }
    holds()
}

#[test]
fn a_server_and_its_children_end_with_the_pipe() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & sleep 1000"]);
    let mut guard = guarded(&command, output()).unwrap();
    assert!(within(Duration::from_secs(5), || children_of(guard.id()).len() == 2));
    let family = children_of(guard.id());
    drop(guard.stdin.take());
    guard.wait().unwrap();
    let gone = || family.iter().all(|process| !is_alive(*process));
    assert!(within(Duration::from_secs(5), gone), "{family:?}");
}

#[test]
fn a_server_that_ends_at_once_is_told_at_once() {
    let logs = std::env::temp_dir();
    let start = Start::new("NONE", "/").run(|_| Command::new("false"));
    let began = Instant::now();
    let error = start.now(&logs).err().expect("a failure");
    assert_eq!(
        format!("{error:#}"),
        "the server NONE does not start: it ended before it was ready"
    );
    assert!(began.elapsed() < READY_WITHIN);
}
