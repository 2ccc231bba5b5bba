//! Decides which paths lead out of every workspace, by their text alone.
//!
//! Knows nothing about what is there.

/// Paths that lead out, or would on some system or after some decoding. None of them may reach
/// any I/O, whether or not something is there.
pub const HOSTILE_PATHS: &[&str] = &[
    "..",
    "../",
    "../outside/secret",
    "../ws-evil/x",
    "a/../../outside/secret",
    "a/b/../../../outside/secret",
    "././/../outside/secret",
    "./../outside/secret",
    "a/..//../outside/secret",
    "..\\outside\\secret",
    "a\\..\\..\\outside\\secret",
    "%2e%2e/outside/secret",
    "%2E%2E/outside/secret",
    ".%2e/outside/secret",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "/proc/self/cwd/a.txt",
    "/dev/stdin",
    "/dev/zero",
    "~/.ssh/id_rsa",
    "~",
    "file:///etc/passwd",
    "C:\\Windows\\win.ini",
    "\\\\server\\share\\x",
    "a.txt\0",
    "\0",
    "a.txt\0/../../outside/secret",
];
