//! Which names a list of models holds.

use serde_json::json;

use super::page;

#[test]
fn names_are_taken_page_by_page() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let first = json!({"data": [{"id": "a", "type": "model"}, {"id": "b"}], "has_more": true, "last_id": "b"});
    assert_eq!(page(&first), (names(&["a", "b"]), Some("b".to_owned())));
    let last = json!({"data": [{"id": "c"}, {"no": 1}], "has_more": false, "last_id": "c"});
    assert_eq!(page(&last), (names(&["c"]), None));
    let odd = json!({"data": [{"id": "a"}], "has_more": true, "last_id": "a&b=1"});
    assert_eq!(page(&odd).1, None, "nothing that changes the address");
    assert_eq!(page(&json!({"models": [{"name": "local"}]})).0, names(&["local"]));
    assert_eq!(page(&json!([1])), (Vec::new(), None));
}
