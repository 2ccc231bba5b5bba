//! Which names a list of models holds.

use serde_json::json;

use super::page;

#[test]
fn names_are_taken_page_by_page() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let read = |value| {
        let page = page(&value);
        (page.names, page.next)
    };
    let first = json!({"data": [{"id": "a", "type": "model"}, {"id": "b"}], "has_more": true, "last_id": "b"});
    let after = "models?limit=1000&after_id=b".to_owned();
    assert_eq!(read(first), (names(&["a", "b"]), Some(after)));
    let last = json!({"data": [{"id": "c"}, {"no": 1}], "has_more": false, "last_id": "c"});
    assert_eq!(read(last), (names(&["c"]), None));
    let odd = json!({"data": [{"id": "a"}], "has_more": true, "last_id": "a&b=1"});
    assert_eq!(read(odd).1, None, "nothing that changes the address");
    assert_eq!(read(json!({"models": [{"name": "local"}]})).0, names(&["local"]));
    assert_eq!(read(json!([1])), (Vec::new(), None));
}
