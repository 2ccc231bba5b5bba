//! Which names a list of models gives.

use serde_json::json;

use super::{names, next};

#[test]
fn names_stand_without_their_collection() {
    let page = json!({"models": [
        {"name": "models/a", "supportedGenerationMethods": ["generateContent", "countTokens"]},
        {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
        {"name": "b"},
        {"name": ""},
        {},
    ]});
    assert_eq!(names(&page), ["a", "b"]);
    assert!(names(&json!([])).is_empty());
}

#[test]
fn a_page_names_the_next_one() {
    let path = next(&json!({"nextPageToken": "Chx-_a="}));
    assert_eq!(path.as_deref(), Some("models?pageSize=1000&pageToken=Chx-_a="));
    for none in [json!({}), json!({"nextPageToken": ""}), json!({"nextPageToken": "a&key=b"})] {
        assert_eq!(next(&none), None, "{none}");
    }
}
