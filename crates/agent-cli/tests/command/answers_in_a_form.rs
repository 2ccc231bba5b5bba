//! Decides whether an answer follows the schema that was asked for, or says that it does not.

use crate::{
    model_server::{ModelServer, Reply},
    place::{Ended, Place},
};

const SCHEMA: &str = r#"{"type":"object","properties":{"count":{"type":"integer"}},
    "required":["count"],"additionalProperties":false}"#;

fn run(schema: &str, replies: impl IntoIterator<Item = Reply>) -> Ended {
    let (place, server) = (Place::empty(), ModelServer::playing(replies));
    std::fs::write(place.path("schema.json"), schema).unwrap();
    let file = place.path("schema.json");
    let file = file.to_str().unwrap();
    place.run_with(&server, &["--model", "m", "--output-schema", file, "count them"])
}

#[test]
fn an_answer_that_follows_is_json_on_standard_output() {
    let ended = run(SCHEMA, [Reply::text(r#"{"count": 3}"#)]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "{\"count\":3}\n"), "{ended:?}");
}

#[test]
fn an_answer_that_does_not_follow_is_asked_for_once_more() {
    let ended = run(SCHEMA, [Reply::text("three"), Reply::text(r#"{"count": 3}"#)]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "{\"count\":3}\n"), "{ended:?}");
    let ended = run(SCHEMA, [Reply::text("three"), Reply::text("four")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(10), ""), "{ended:?}");
    assert!(ended.stderr.contains("answer_invalid"), "{ended:?}");
}

#[test]
fn a_schema_that_cannot_be_used_is_a_wrong_configuration() {
    for schema in ["no JSON", "[1]", r#"{"type":"nonsense"}"#] {
        let ended = run(schema, []);
        assert_eq!(ended.code, Some(3), "{schema}: {ended:?}");
        assert!(ended.stderr.contains("--output-schema"), "{ended:?}");
    }
    let ended = Place::empty().run(&["--output-schema", "nowhere.json", "count them"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
}
