//! Decides whether an instance is found by those who may see it, and by nobody else.

use runtime_ports::{PortFailureKind, RuntimeInstanceResolver};
use runtime_types::{CallerScope, RuntimeInstanceId, SubjectId};

use super::{context, operation};
use crate::FakeResolver;

fn subject(name: &str) -> SubjectId {
    SubjectId::new(name).unwrap()
}

#[tokio::test]
async fn what_a_caller_may_not_see_is_not_found_like_what_does_not_exist() {
    let resolver =
        FakeResolver::new([context("open")]).with_private(subject("ada"), context("private"));
    let resolve = async |who: &str, id: &str| {
        let id = RuntimeInstanceId::new(id).unwrap();
        resolver.resolve(&operation("op"), &CallerScope::of(subject(who)), &id).await
    };
    assert_eq!(resolve("bob", "open").await, Ok(context("open")));
    assert_eq!(resolve("ada", "private").await, Ok(context("private")));
    let (hidden, missing) = (resolve("bob", "private").await, resolve("bob", "missing").await);
    assert_eq!(hidden, missing);
    assert_eq!(hidden.unwrap_err().kind, PortFailureKind::NotFound);
    assert_eq!(resolver.calls().len(), 4);
}
