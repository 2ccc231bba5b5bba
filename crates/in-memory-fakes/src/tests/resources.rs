//! Decides whether resources are given as they are now.

use std::collections::BTreeMap;

use runtime_ports::{ResourceSession, ResourceSnapshot};

use super::operation;
use crate::{FakeResources, ResourceCall};

#[tokio::test]
async fn a_replaced_snapshot_is_given_from_then_on() {
    let resources = FakeResources::new(["be kind"]);
    let first = resources.load(&operation("op")).await.unwrap();
    assert_eq!(first.instructions, ["be kind"]);
    let skills = BTreeMap::from([("sum".to_owned(), "add them".to_owned())]);
    let snapshot = ResourceSnapshot::new(vec!["be kind".to_owned()], skills);
    resources.replace(snapshot.clone());
    assert_eq!(resources.load(&operation("op")).await, Ok(snapshot.clone()));
    assert_ne!(first.digest, snapshot.digest);
    assert_eq!(resources.calls(), [ResourceCall::Load; 2]);
}
