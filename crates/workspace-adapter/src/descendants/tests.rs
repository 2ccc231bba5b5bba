//! Checks how a line of the process table is read; the hunt itself is checked with the folder.

use rustix::process::Pid;

use super::process_table::Process;

/// Everything of `/proc/<pid>/stat` after the name, for a process of these ids.
fn stat(name: &str, ids: &str) -> String {
    format!("9 ({name}) {ids} 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 7777 0 0")
}

#[test]
fn names_never_shift_the_fields() {
    for name in ["sh", "a b", "x) S 1 1 1", "(((", "\u{fffd})", ""] {
        let process = Process::parse(Pid::INIT, &stat(name, "S 11 12 13")).unwrap();
        let ids = [process.parent, process.group, process.session].map(Pid::as_raw_pid);
        assert_eq!(ids, [11, 12, 13], "{name}");
        assert!(!process.is_dead, "{name}");
    }
}

#[test]
fn the_dead_and_the_broken_are_told_apart() {
    let parse = |stat: &str| Process::parse(Pid::INIT, stat);
    assert!(parse(&stat("x", "Z 1 1 1")).unwrap().is_dead);
    for outside in ["S 0 0 0", "X -1 -1 -1"] {
        let process = parse(&stat("x", outside)).unwrap();
        assert_eq!([process.parent, process.group, process.session], [Pid::INIT; 3]);
    }
    for broken in ["", "9 (x", "9 (x) S 1 2", &stat("x", "S a b c")] {
        assert!(parse(broken).is_none(), "{broken}");
    }
}
