//! Which names a list of models gives.

use serde_json::json;

use super::model_names as names;

#[test]
fn lists_of_every_server_are_read() {
    let openai = json!({"data": [{"id": "a", "object": "model"}, {"id": "b"}, {"id": ""}, {}]});
    assert_eq!(names(&openai), ["a", "b"]);
    assert_eq!(names(&json!({"models": [{"name": "a"}]})), ["a"]);
    let both = json!({"data": [{"id": "a"}], "models": [{"name": "a"}]});
    assert_eq!(names(&both), ["a"]);
    assert!(names(&json!([])).is_empty());
}
