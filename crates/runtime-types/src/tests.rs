//! Decides whether identifiers hold their invariant and secrets stay unseen.

use uuid::Uuid;

use crate::{
    CallerScope, CredentialHandle, DelegationLeaseRef, ExecutionId, IDENTIFIER_MAX_BYTES,
    InvalidIdentifier, OperationId, RequestAuthority, SubjectId,
};

#[test]
fn identifiers_refuse_what_is_empty_too_long_or_has_control_characters() {
    let kind = "OperationId";
    let longest = "é".repeat(IDENTIFIER_MAX_BYTES / 2);
    assert!(OperationId::new("a").is_ok());
    assert!(OperationId::new(longest.clone()).is_ok());
    for (text, expected) in [
        (String::new(), InvalidIdentifier::Empty { kind }),
        (format!("{longest}x"), InvalidIdentifier::TooLong { kind, bytes: 257 }),
        ("a\nb".into(), InvalidIdentifier::ControlCharacter { kind, position: 1 }),
        ("é\u{85}".into(), InvalidIdentifier::ControlCharacter { kind, position: 2 }),
        ("\0".into(), InvalidIdentifier::ControlCharacter { kind, position: 0 }),
        ("a\u{7f}".into(), InvalidIdentifier::ControlCharacter { kind, position: 1 }),
    ] {
        assert_eq!(OperationId::new(text), Err(expected));
    }
}

#[test]
fn deserialisation_validates_like_the_constructor() {
    let id: OperationId = serde_json::from_str("\"run-7\"").unwrap();
    assert_eq!(id.as_str(), "run-7");
    assert_eq!(serde_json::to_string(&id).unwrap(), "\"run-7\"");
    for hostile in ["\"\"", "\"a\\u0000\"", "\"\\n\"", "7", "null"] {
        assert!(serde_json::from_str::<OperationId>(hostile).is_err(), "{hostile}");
    }
    let long = format!("\"{}\"", "x".repeat(IDENTIFIER_MAX_BYTES + 1));
    assert!(serde_json::from_str::<ExecutionId>(&long).is_err());
}

#[test]
fn uuids_convert_both_ways_and_other_text_does_not() {
    let uuid = Uuid::from_u128(0x1234_5678);
    let operation = OperationId::from(uuid);
    assert_eq!(Uuid::try_from(&operation), Ok(uuid));
    assert_eq!(ExecutionId::from(uuid).as_uuid(), Some(uuid));
    assert!(Uuid::try_from(&OperationId::new("run-7").unwrap()).is_err());
}

#[test]
fn secrets_do_not_appear_in_any_formatting() {
    const CANARY: &str = "canary-4711";
    let caller = CallerScope::of(SubjectId::new("ada").unwrap());
    let authority = RequestAuthority { caller, credential: CredentialHandle::new(CANARY) };
    let lease = DelegationLeaseRef::new(CANARY);
    let shown = format!("{authority:?} {authority:#?} {} {lease:?}", authority.credential);
    assert!(!shown.contains(CANARY), "{shown}");
    assert!(shown.contains("[redacted]"));
    assert_eq!(authority.credential.expose(), lease.expose());
    assert_eq!(lease, DelegationLeaseRef::new(CANARY));
    assert_ne!(lease, DelegationLeaseRef::new("canary-4712"));
}

#[test]
fn caller_scope_is_stored_in_a_fixed_form() {
    let mut scope = CallerScope::of(SubjectId::new("ada").unwrap());
    scope.capabilities.extend(["write".to_owned(), "read".to_owned()]);
    let stored =
        r#"{"subject":"ada","tenantId":null,"projectId":null,"capabilities":["read","write"]}"#;
    assert_eq!(serde_json::to_string(&scope).unwrap(), stored);
    assert_eq!(serde_json::from_str::<CallerScope>(stored).unwrap(), scope);
    assert!(scope.may("read") && !scope.may("admin"));
}
