//! What is kept of an event.
//!
//! Knows nothing about pages and runs.

use serde_json::{Map, Value, json};

use crate::{
    Proof,
    claim::{equal, success},
    trace::{
        TraceHarness,
        sample::{append, append_number, holds, new_run, numbers, of, page},
    },
};

/// Of a run, these events come back as they were appended.
async fn come_back(harness: &dyn TraceHarness, events: &[(&str, Value)]) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    for (event_type, payload) in events {
        append(&staged.ports, &run, event_type, payload.clone()).await?;
    }
    holds(&staged.ports, &run, events).await
}

async fn payloads_come_back(harness: &dyn TraceHarness, payloads: Vec<Value>) -> Proof {
    let events: Vec<_> = payloads.into_iter().map(|payload| ("event", payload)).collect();
    come_back(harness, &events).await
}

pub(crate) async fn a_run_without_events_gives_none(harness: &dyn TraceHarness) -> Proof {
    let staged = harness.stage().await?;
    for (after, limit) in [(0, 1), (0, usize::MAX), (7, 1), (u64::MAX, 1), (0, 0)] {
        equal("the events", &page(&staged.ports, &new_run(), after, limit).await?, &Vec::new())?;
    }
    Ok(())
}

pub(crate) async fn events_are_numbered_from_one(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    let mut expected = Vec::new();
    for number in (0..120).rev() {
        append_number(&staged.ports, &run, number).await?;
        expected.push(number);
        if number % 30 == 0 {
            equal("the events", &numbers(&staged.ports, &run).await?, &expected)?;
        }
    }
    Ok(())
}

pub(crate) async fn types_come_back_as_they_were(harness: &dyn TraceHarness) -> Proof {
    let odd = "\u{e9}v\u{e9}nement \u{1F980} \"q\" '; --\n\u{0}";
    let long = "type".repeat(250);
    let types = ["run_started", "RunStarted", "runstarted", "a.b/c", "", " ", " padded ", odd];
    let types = types.into_iter().chain([&*long]);
    come_back(harness, &types.map(|event_type| (event_type, json!({}))).collect::<Vec<_>>()).await
}

pub(crate) async fn payloads_come_back_as_they_were(harness: &dyn TraceHarness) -> Proof {
    let odd = "na\u{ef}ve nai\u{308}ve \u{0}\u{1b}\r\n\t \\ \" \u{2028} \u{1F980}\u{10FFFF}";
    let names = json!({ "": 1, " ": 2, "a.b": 3, "$ref": 4, "z": 5, "A": 6, "a": 7, odd: 8 });
    let payloads = vec![
        Value::Null,
        json!(true),
        json!(false),
        json!(""),
        json!("null"),
        json!("{\"text\":\"not an object\"}"),
        json!(odd),
        json!([]),
        json!({}),
        json!([[], {}, [null], "a", 1, [1, "1"]]),
        names,
        json!({ "kept": null, "list": [null, null], "text": "  ", "type": "x", "sequence": 9 }),
    ];
    payloads_come_back(harness, payloads).await
}

pub(crate) async fn numbers_come_back_exactly(harness: &dyn TraceHarness) -> Proof {
    let whole = [json!(0), json!(-1), json!(1_u64 << 53), json!(9_007_199_254_740_993_u64)];
    let ends = [json!(i64::MIN), json!(i64::MAX), json!(u64::MAX), json!(i64::MAX as u64 + 1)];
    // The last ones are what a parser that is a bit off gets wrong.
    let fractions = [
        1.0,
        0.1,
        -0.0,
        1e23,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        0.1 + 0.2,
        31.245_270_191_439_438,
        90.422_252_909_423_83,
        8.404_698_264_678_8e-296,
        1.344_781_671_744_063e-14,
    ];
    let mut numbers: Vec<_> = whole.into_iter().chain(ends).collect();
    numbers.extend(fractions.map(|fraction| json!(fraction)));
    payloads_come_back(harness, vec![json!({ "numbers": numbers })]).await?;
    payloads_come_back(harness, numbers).await
}

pub(crate) async fn a_large_payload_comes_back_whole(harness: &dyn TraceHarness) -> Proof {
    let text = "sechzehn B\u{e4}r\u{1F980}\n".repeat(50 << 10);
    let entry = |number: usize| (format!("name {number}"), json!(number));
    let wide: Map<_, _> = (0..2_000).map(entry).collect();
    payloads_come_back(harness, vec![json!({ "text": text }), json!("next"), wide.into()]).await
}

pub(crate) async fn a_deep_payload_comes_back_whole(harness: &dyn TraceHarness) -> Proof {
    let deeper = |inner: Value, level: usize| match level % 2 {
        0 => json!([inner]),
        _ => json!({ "inner": inner }),
    };
    payloads_come_back(harness, vec![(0..100).fold(json!("core"), deeper)]).await
}

pub(crate) async fn equal_events_are_all_kept(harness: &dyn TraceHarness) -> Proof {
    let (staged, run) = (harness.stage().await?, new_run());
    let (operation, event) = (of(&run), ("event", json!({ "a": 1 })));
    for _ in 0..3 {
        let appended = staged.ports.session.append(&operation, event.0, event.1.clone()).await;
        success("appending under one operation", appended)?;
        append(&staged.ports, &run, event.0, event.1.clone()).await?;
    }
    let other = staged.ports.session.append(&operation, "other", json!(null)).await;
    success("appending another event under one operation", other)?;
    let mut expected = vec![event; 6];
    expected.push(("other", json!(null)));
    holds(&staged.ports, &run, &expected).await
}
