//! Decides whether protected names, links that lead out and the command's own files are out of
//! reach, also with `--yes`.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::{Ended, Place},
};

/// Lets a model write `path` with `--yes`.
fn write(place: &Place, path: &str) -> Ended {
    let call = Reply::call("write_file", json!({ "path": path, "content": "owned" }));
    let server = ModelServer::playing([call, Reply::text("Refused.")]);
    place.run_with(&server, &["--yes", "--model", "m", "write it"])
}

#[test]
fn protected_names_are_refused_even_with_yes() {
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        "deep/.GIT/config",
        ".env",
        ".env.local",
        ".agent/settings.toml",
        "AGENTS.md",
        ".mcp.json",
        ".vscode/settings.json",
    ] {
        let place = Place::empty();
        let ended = write(&place, path);
        assert_eq!(ended.code, Some(0), "{path}: {ended:?}");
        assert!(ended.stderr.contains("[1] failed: name is protected"), "{path}: {ended:?}");
        assert_eq!(fs::read_dir(place.folder()).unwrap().count(), 0, "{path}");
    }
}

#[test]
fn a_secret_is_not_read() {
    let place = Place::empty();
    place.put(".env", "TOKEN=canary-env\n");
    let call = Reply::call("read_file", json!({ "path": ".env" }));
    let server = ModelServer::playing([call, Reply::text("No.")]);
    place.run_with(&server, &["--model", "m", "read it"]);
    assert!(!server.requests()[1].body.to_string().contains("canary-env"));
}

#[test]
fn no_link_leads_out() {
    let place = Place::empty();
    fs::write(place.path("outside.txt"), "canary-outside").unwrap();
    symlink(place.path("outside.txt"), place.folder().join("link.txt")).unwrap();
    symlink(place.root(), place.folder().join("up")).unwrap();
    for path in ["link.txt", "up/outside.txt", "up/new.txt", "../outside.txt"] {
        let ended = write(&place, path);
        assert!(ended.stderr.contains("[1] failed: "), "{path}: {ended:?}");
    }
    assert_eq!(fs::read_to_string(place.path("outside.txt")).unwrap(), "canary-outside");
    assert!(!place.path("new.txt").exists());
    let ended = place.run(&["read link.txt"]);
    assert!(!ended.stdout.contains("canary-outside"), "{ended:?}");
}

#[test]
fn the_commands_own_files_are_kept_out_of_a_folder_that_holds_them() {
    for own in ["config/agent/config.toml", "state/agent/receipts/receipts.jsonl"] {
        let place = Place::empty();
        let call = Reply::call("write_file", json!({ "path": own, "content": "owned" }));
        let server = ModelServer::playing([call, Reply::text("Refused.")]);
        let above = place.root().to_str().unwrap().to_owned();
        let arguments = ["--yes", "--folder", &above, "--model", "m", "write it"];
        let ended = place.run_with(&server, &arguments);
        assert!(ended.stderr.contains("[1] failed: "), "{own}: {ended:?}");
        assert!(!fs::read_to_string(place.path(own)).is_ok_and(|text| text.contains("owned")));
    }
}

#[test]
fn the_commands_own_files_are_no_folder_to_work_in() {
    let place = Place::empty();
    fs::create_dir(place.path("config/agent/skills")).unwrap();
    for own in ["config/agent", "config/agent/skills"] {
        let folder = place.path(own).to_str().unwrap().to_owned();
        let ended = place.run(&["--folder", &folder, "list the files"]);
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(ended.stderr.contains("belongs to this command"), "{ended:?}");
    }
}
