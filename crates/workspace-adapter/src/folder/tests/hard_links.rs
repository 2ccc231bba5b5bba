//! Checks that a file shared through a hard link never changes, and that a stranger's is not read.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use super::*;

#[tokio::test]
async fn writing_breaks_the_link() {
    let neighbours = Neighbours::new();
    fs::hard_link(neighbours.outside("secret"), neighbours.ws("hl")).unwrap();
    neighbours.workspace.write(&operation(), "hl", b"mine").await.unwrap();
    assert_eq!(fs::read(neighbours.ws("hl")).unwrap(), b"mine");
    assert_eq!(fs::metadata(neighbours.outside("secret")).unwrap().nlink(), 1);
    neighbours.assert_untouched();
}

#[tokio::test]
async fn a_link_of_the_same_owner_is_read_and_a_strangers_is_not() {
    let neighbours = Neighbours::new();
    fs::hard_link(neighbours.outside("secret"), neighbours.ws("hl")).unwrap();
    assert_eq!(neighbours.workspace.read(&operation(), "hl").await.unwrap(), b"secret");
    if chown(neighbours.outside("secret"), Some(54_321), None).is_err() {
        return; // Only root gives files away; the rule itself is the same for everybody.
    }
    let failure = refused(neighbours.workspace.read(&operation(), "hl").await);
    assert_eq!(failure, (PortFailureKind::Forbidden, "FOREIGN_HARD_LINK".to_owned()));
    let found = neighbours.workspace.search(&operation(), "", "secret", 9).await.unwrap();
    assert_eq!(found, ["hl: skipped (protected)"]);
    fs::remove_file(neighbours.outside("secret")).unwrap();
    let read = neighbours.workspace.read(&operation(), "hl").await;
    assert!(read.is_ok(), "the last name of a file is an ordinary file");
}

#[tokio::test]
async fn the_mode_is_kept_and_special_bits_are_not() {
    let (temp, workspace) = folder(&[("script", "old"), ("locked", "old")]);
    let mode =
        |name: &str| temp.path().join(name).metadata().unwrap().permissions().mode() & 0o7777;
    let set = |name: &str, mode| {
        fs::set_permissions(temp.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("script", 0o4750);
    workspace.write(&operation(), "script", b"new").await.unwrap();
    assert_eq!(mode("script"), 0o750);
    set("locked", 0o444);
    assert_eq!(refused(workspace.write(&operation(), "locked", b"x").await).1, "READ_ONLY_FILE");
    assert_eq!(fs::read(temp.path().join("locked")).unwrap(), b"old");
}
