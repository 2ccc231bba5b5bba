//! Checks that only the allow-list passes.

use std::ffi::OsString;

use super::{CommandHome, DEFAULT_PATH, MARKER, PASSED, passed};

fn names_and_values(host: &[(&str, &str)]) -> Vec<(String, String)> {
    let host = host.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let text = |text: OsString| text.into_string().unwrap();
    passed(host).into_iter().map(|(name, value)| (text(name), text(value))).collect()
}

#[test]
fn secrets_and_hooks_do_not_pass() {
    let refused = [
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "DATABASE_URL",
        "SSH_AUTH_SOCK",
        "KUBECONFIG",
        "MY_PWD",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "PWD",
        "TMPDIR",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "PAGER",
        "GIT_PAGER",
        "EDITOR",
        "VISUAL",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_GLOBAL",
        "BASH_ENV",
        "ENV",
        "BASH_FUNC_ls%%",
        "IFS",
        "PS4",
        "PROMPT_COMMAND",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "PERL5OPT",
        "RUBYOPT",
        "RUSTC_WRAPPER",
        "HTTPS_PROXY",
        "SSL_CERT_FILE",
        "XDG_CONFIG_HOME",
        "LC_SECRET",
        "LC_",
        "LANGUAGE_KEY",
        "lang",
        "TERMCAP",
        "TERM_PROGRAM",
        "TZDIR",
        "PATH_EXTRA",
        "",
    ];
    let host: Vec<_> = refused.iter().map(|name| (*name, "canary")).collect();
    assert_eq!(names_and_values(&host), [("PATH".to_owned(), DEFAULT_PATH.to_owned())]);
}

#[test]
fn the_allowed_pass_unchanged() {
    let host: Vec<_> = PASSED.iter().map(|name| (*name, "value")).collect();
    let names: Vec<_> = names_and_values(&host).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [&PASSED[..], &["PATH"]].concat());
}

#[test]
fn the_search_path_is_absolute() {
    let check = |host: &str, expected: &str| {
        assert_eq!(names_and_values(&[("PATH", host)])[0].1, expected, "{host}");
    };
    check("/a:/b", "/a:/b");
    check(".:/a::bin:/b:../c", "/a:/b");
    check("", DEFAULT_PATH);
    check(".:bin", DEFAULT_PATH);
}

#[test]
fn a_home_is_private_and_goes_with_its_owner() {
    use std::os::unix::fs::PermissionsExt;

    let home = CommandHome::make().unwrap();
    let environment = home.environment("mark");
    let value = |name: &str| {
        let found = environment.iter().find(|(key, _)| key == name).unwrap();
        std::path::PathBuf::from(&found.1)
    };
    let (folder, temporary) = (value("HOME"), value("TMPDIR"));
    assert!(temporary.starts_with(&folder) && temporary.is_dir());
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(value(MARKER), std::path::PathBuf::from("mark"));
    drop(home);
    assert!(!folder.exists());
}
