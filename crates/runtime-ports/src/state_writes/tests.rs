//! A key that is taken away, one that is set to null, and one that is set.

use serde_json::json;

use crate::ToolReply;

#[test]
fn a_reply_keeps_what_it_does_to_the_state() {
    let writes = [("gone", None), ("null", Some(json!(null))), ("set", Some(json!([null])))];
    let state_writes = writes.map(|(key, value)| (key.to_owned(), value)).to_vec();
    let reply = ToolReply { state_writes, ..ToolReply::text("done") };
    let written = serde_json::to_value(&reply).unwrap();
    let expected = json!([["gone", null], ["null", null, null], ["set", [null]]]);
    assert_eq!(written["stateWrites"], expected);
    assert_eq!(serde_json::from_value::<ToolReply>(written).unwrap(), reply);
}
