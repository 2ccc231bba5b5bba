//! Which details of an error are believed.

use std::time::Duration;

use serde_json::{Value, json};

use super::Details;

fn of(error: &Value) -> Details {
    Details::of(error, &error["message"].as_str().unwrap_or_default().to_lowercase())
}

fn waits(what: &str, error: &Value, expected: Option<Duration>) {
    assert_eq!(of(error).retry_after, expected, "{what}");
}

#[test]
fn the_wait_stands_in_the_details_or_in_the_text() {
    let delay = |delay: Value| {
        let kind = "type.googleapis.com/google.rpc.RetryInfo";
        json!({"details": [{"@type": "other"}, {"@type": kind, "retryDelay": delay}]})
    };
    waits("seconds", &delay(json!("17s")), Some(Duration::from_secs(17)));
    waits("parts of seconds", &delay(json!("2.5s")), Some(Duration::from_millis(2_500)));
    waits("nothing", &delay(json!("0s")), Some(Duration::ZERO));
    waits("an object", &delay(json!({"seconds": "9", "nanos": 5})), Some(Duration::from_secs(9)));
    waits("a number", &delay(json!({"seconds": 9})), Some(Duration::from_secs(9)));
    let said = |text: &str| json!({"message": format!("Quota exceeded. Please retry in {text}")});
    waits("in words", &said("53.5s."), Some(Duration::from_millis(53_500)));
    waits("in milliseconds", &said("250ms."), Some(Duration::from_millis(250)));
    for hostile in ["-1s", "NaNs", "s", "1", "soon", ""] {
        waits(hostile, &delay(json!(hostile)), None);
        waits(hostile, &said(hostile), None);
    }
    waits("none", &json!({"details": [7, null]}), None);
}

#[test]
fn a_quota_of_a_day_is_spent_and_one_of_a_minute_is_not() {
    let quota = |ids: &[&str]| {
        let violations: Vec<Value> = ids.iter().map(|id| json!({ "quotaId": id })).collect();
        of(&json!({"details": [{"violations": violations}]})).quota_is_spent
    };
    let (minute, day) = (
        "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
        "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
    );
    assert!(!quota(&[]) && !quota(&[minute]));
    assert!(quota(&[day]) && quota(&[minute, day]));
    let worded = |message: &str| {
        of(&json!({"message": message, "status": "RESOURCE_EXHAUSTED"})).quota_is_spent
    };
    assert!(worded("Quota exceeded for metric: x, limit: 0, model: y"));
    assert!(worded("Your prepayment credits are depleted."));
    assert!(!worded("Quota exceeded for metric: x, limit: 15, model: y"));
    assert!(!of(&json!({"message": "10 requests per day, limit: 0,"})).quota_is_spent);
}

#[test]
fn the_reason_is_a_word_of_the_details() {
    let error = json!({"details": [{"locale": "en"}, {"reason": "API_KEY_INVALID"}]});
    assert_eq!(of(&error).reason.as_deref(), Some("API_KEY_INVALID"));
    assert_eq!(of(&json!({"details": "many"})), Details::default());
}
