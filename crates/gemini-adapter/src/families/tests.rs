//! Which model belongs to which family, and how much it is told to think.

use super::{Amount, Family, Thinking};

#[test]
fn names_tell_the_family() {
    let cases = [
        ("gemini-1.5-pro", Thinking::Absent, false),
        ("gemini-2.0-flash-001", Thinking::Absent, false),
        ("gemini-2.5-flash-lite", Thinking::Budget, false),
        ("models/gemini-2.5-pro", Thinking::Budget, false),
        ("gemma-3-27b-it", Thinking::Absent, false),
        ("gemini-3-pro-preview", Thinking::Level, true),
        ("gemini-3.5-flash", Thinking::Level, true),
        ("gemini-flash-latest", Thinking::Level, true),
        ("somebody-elses-name", Thinking::Level, true),
    ];
    for (model, thinking, signed) in cases {
        let family = Family::of(model);
        assert_eq!((family.thinking, family.signed_calls), (thinking, signed), "{model}");
        assert_eq!(family.call_ids, signed, "those that insist on signatures know ids: {model}");
    }
}

#[test]
fn an_effort_is_a_level_or_a_budget() {
    let cases = [
        (Thinking::Level, "minimal", Some(("thinkingLevel", Amount::Named))),
        (Thinking::Level, "none", None),
        (Thinking::Level, "xhigh", None),
        (Thinking::Budget, "none", Some(("thinkingBudget", Amount::Tokens(0)))),
        (Thinking::Budget, "low", Some(("thinkingBudget", Amount::Tokens(1_024)))),
        (Thinking::Budget, "high", Some(("thinkingBudget", Amount::Tokens(24_576)))),
        (Thinking::Absent, "low", None),
    ];
    for (thinking, effort, expected) in cases {
        assert_eq!(thinking.field(effort), expected, "{thinking:?} {effort}");
    }
}
