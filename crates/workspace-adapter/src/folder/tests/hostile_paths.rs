//! Checks that a path that leads out, or might, is one and the same refusal for every call, before
//! anything is looked at.

use super::*;

/// Ways out by themselves.
const ENDINGS: [&str; 26] = [
    "..",
    "../",
    "../outside/secret",
    "../../etc/passwd",
    "../ws/x",
    "../ws-evil/x",
    "x/../..",
    "x/../y",
    "x/..",
    "x/./../..",
    "././/..",
    ".. /x",
    "... /x",
    "..../x",
    "..\\x",
    "x\\..\\..\\y",
    "%2e%2e/secret",
    "%2E%2e/secret",
    "..%2fsecret",
    "..%5csecret",
    "%252e%252e/secret",
    "%c0%ae%c0%ae/secret",
    "x%00.txt",
    "x\0.txt",
    "\u{2025}/secret",
    "\u{ff0e}\u{ff0e}/secret",
];

/// Ways to go down first.
const BEGINNINGS: [&str; 6] = ["", "./", "inside/", "inside/./", "inside//", "none/none/"];

/// Ways that work only from the start.
const ABSOLUTE: [&str; 46] = [
    "/",
    "//",
    "/etc/passwd",
    "//etc/passwd",
    "/./etc/passwd",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/dev/stdin",
    "/dev/null",
    "/dev/zero",
    "/dev/fd/0",
    "/tmp",
    "/..",
    "~",
    "~/.ssh/id_rsa",
    "~root/.ssh/id_rsa",
    "~user",
    "./~",
    "~+/x",
    "~-/x",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "file:etc/passwd",
    "FILE:etc/passwd",
    "http://127.0.0.1/x",
    "https:",
    "data:",
    "C:",
    "C:/Windows",
    "C:x",
    "c:\\Windows",
    "\\",
    "\\\\server\\share",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "a\nb",
    "a\rb",
    "a\tb",
    "\u{1b}]52;c;x\u{7}",
    "\u{9b}2J",
    "\u{7f}",
    "a\u{202e}txt.exe",
    "a\u{2066}b",
    "\u{feff}a",
    "a\u{2028}b",
    "\u{200f}a",
];

fn hostile() -> Vec<String> {
    let below = BEGINNINGS.iter().flat_map(|begin| ENDINGS.map(|end| format!("{begin}{end}")));
    let long = [
        "a".repeat(256),
        format!("x/{}", "é".repeat(128)),
        "a/".repeat(129),
        "./".repeat(2_049),
        "a".repeat(4_097),
        format!("{}/x", "a/".repeat(2_048)),
    ];
    below.chain(ABSOLUTE.map(str::to_owned)).chain(long).collect()
}

#[tokio::test]
async fn every_call_gives_the_one_refusal() {
    let neighbours = Neighbours::new();
    fs::create_dir(neighbours.ws("inside")).unwrap();
    let paths = hostile();
    assert!(paths.len() >= 200, "{}", paths.len());
    let refusal = crate::failure::outside();
    for path in paths {
        for (call, result) in calls(&neighbours.workspace, &path).await {
            assert_eq!(result.as_ref(), Err(&refusal), "{call} {path:?}");
        }
    }
    neighbours.assert_untouched();
    assert_eq!(fs::read_dir(neighbours.ws("")).unwrap().count(), 1);
}

#[tokio::test]
async fn the_refusal_comes_before_anything_else() {
    let neighbours = Neighbours::new();
    let operation = operation();
    operation.cancellation.cancel();
    let refusal = crate::failure::outside();
    let read = neighbours.workspace.read(&operation, "../outside/secret").await;
    assert_eq!(read, Err(refusal.clone()));
    let write = neighbours.workspace.write(&operation, "../outside/secret", b"x").await;
    assert_eq!(write, Err(refusal));
}

#[tokio::test]
async fn a_sibling_with_the_same_beginning_is_outside() {
    let neighbours = Neighbours::new();
    let evil = neighbours.temp.path().join("ws-evil");
    fs::create_dir(&evil).unwrap();
    fs::write(evil.join("x"), "secret").unwrap();
    for path in ["../ws-evil/x", evil.join("x").to_str().unwrap(), "-evil/x"] {
        let failure = neighbours.workspace.read(&operation(), path).await.unwrap_err();
        assert_ne!(failure.commit, runtime_ports::CommitDisposition::Committed, "{path}");
    }
}
