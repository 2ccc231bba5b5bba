//! Counts and costs in every place and shape (C4 to C11).

use super::{DONE, HI, STOP};
use crate::{
    profile::Api,
    rehearsal::{check, events},
};

#[test]
fn c_counts_in_every_place_and_shape() {
    let hi = |usage: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"content":"hi"}},"finish_reason":"stop"}}],"usage":{usage}}}"#
        )
    };
    let rows = [
        ("c6 empty", hi("{}"), ""),
        ("c6 a list", hi("[]"), ""),
        ("c7 nulls", hi(r#"{"prompt_tokens":3,"completion_tokens":null,"prompt_tokens_details":null}"#), " [in 3]"),
        ("c8 no total", hi(r#"{"prompt_tokens":3,"completion_tokens":1}"#), " [in 3 out 1]"),
        ("texts", hi(r#"{"prompt_tokens":"3","completion_tokens":1}"#), " [out 1]"),
        ("whole fractions", hi(r#"{"prompt_tokens":3.0,"completion_tokens":1.5}"#), " [in 3]"),
        ("below zero", hi(r#"{"prompt_tokens":-3,"completion_tokens":1}"#), " [out 1]"),
        ("above all", hi(r#"{"prompt_tokens":18446744073709551616,"completion_tokens":1}"#), " [out 1]"),
        ("zero", hi(r#"{"prompt_tokens":0,"completion_tokens":0}"#), " [in 0 out 0]"),
        ("c10 cached above the prompt", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}"#), " [in 3 out 1]"),
        ("c10 cached beside the prompt", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":9}}"#), " [in 12 out 1 cached 9]"),
        ("c10 reasoning above the answer", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":8}}"#), " [in 3 out 1]"),
        ("c10 reasoning beside the answer", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":8}}"#), " [in 3 out 9 reasoning 8]"),
        ("c11 a cost", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"cost":0.00025}"#), " [in 3 out 1 cost 250000]"),
        ("c11 ticks", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"cost_in_usd_ticks":25}"#), " [in 3 out 1 cost 3]"),
        ("c11 a cost below zero", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"cost":-1}"#), " [in 3 out 1]"),
        ("c11 groq", r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":1}}}"#.to_owned(), " [in 3 out 1]"),
        ("in the choice", r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":1}}]}"#.to_owned(), " [in 3 out 1]"),
    ];
    for (name, frame, counts) in rows {
        check(Api::Chat, name, &events(&[frame]), &format!(r#"Stop: "hi"{counts}"#));
    }
    let usage = |prompt: u64| {
        format!(r#"{{"choices":[],"usage":{{"prompt_tokens":{prompt},"completion_tokens":1}}}}"#)
    };
    let frames = [HI.to_owned(), STOP.to_owned(), usage(9), usage(3), DONE.to_owned()];
    check(Api::Chat, "a lower one later", &events(&frames), r#"Stop: "hi" [out 1]"#);
    let frames = [HI.to_owned(), usage(3), usage(3), STOP.to_owned(), usage(3), DONE.to_owned()];
    check(Api::Chat, "c4 the same again and again", &events(&frames), r#"Stop: "hi" [in 3 out 1]"#);
}
