//! What is kept comes back, and nobody else reads it.

use std::os::unix::fs::PermissionsExt;

use runtime_ports::ModelRole;

use super::*;

fn conversation(folder: &str, said: &str) -> Talk {
    let mut conversation = Talk::new(folder);
    conversation.set(vec![ModelMessage::text(ModelRole::User, said)]);
    conversation
}

#[test]
fn what_is_kept_comes_back_for_the_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Talks::in_folder(folder.path().join("conversations"));
    let mut first = conversation("/a", "hello");
    kept.keep(&first).unwrap();
    first.set(vec![ModelMessage::text(ModelRole::User, "hello again")]);
    kept.keep(&first).unwrap();
    let id = first.session_id.to_string();
    assert_eq!(kept.named(&id[..6].to_uppercase()).unwrap(), first);
    let path = folder.path().join(format!("conversations/{id}.json"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(kept.paths().unwrap(), [path], "nothing is left beside it");
}

#[test]
fn the_newest_of_a_folder_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Talks::in_folder(folder.path().to_owned());
    let mut old = conversation("/a", "old");
    old.updated_at_ms = 1;
    let new = conversation("/a", "new");
    for one in [&old, &new, &conversation("/b", "elsewhere")] {
        kept.keep(one).unwrap();
    }
    assert_eq!(kept.newest("/a").unwrap(), new);
    let nowhere = kept.newest("/c").unwrap_err().to_string();
    assert!(nowhere.contains("no conversation was held in /c"), "{nowhere}");
}

#[test]
fn what_cannot_be_read_is_refused_without_a_word_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Talks::in_folder(folder.path().to_owned());
    for (name, text, reason) in [
        ("aa", r#"{"version":2}"#, "has version 2, not 1"),
        ("bb", r#"{"version":1,"secret":"#, "is damaged"),
        ("cc", r#"{"version":1,"messages":"secret"}"#, "is damaged"),
    ] {
        fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
        let error = kept.named(name).unwrap_err().to_string();
        assert!(error.contains(reason) && !error.contains("secret"), "{error}");
    }
    assert!(kept.named("").is_err() && kept.named("dd").is_err());
}

/// Golden: a changed form needs another version.
#[test]
fn the_form_of_a_file_is_a_promise() {
    let mut one = conversation("/a", "hello");
    (one.session_id, one.updated_at_ms) = (Uuid::nil(), 7);
    let expected = concat!(
        r#"{"version":1,"session_id":"00000000-0000-0000-0000-000000000000","folder":"/a","#,
        r#""updated_at_ms":7,"messages":[{"role":"user","content":"#,
        r#"[{"type":"text","text":"hello"}]}]}"#,
    );
    assert_eq!(serde_json::to_string(&one).unwrap(), expected);
}
