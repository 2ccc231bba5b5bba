//! Holds the list of models to saying what is unknown, and to prices in dollars.

use runtime_ports::{ModelProfile, Price};

use super::{Key, Row, dollars, grouped, json_lines, table};

fn row(price: Option<Price>) -> Row {
    let profile = ModelProfile {
        context_window_tokens: 1_048_576,
        max_input_tokens: 1_000_000,
        max_output_tokens: None,
        images: true,
        price,
    };
    Row {
        model: "m".into(),
        provider: "p".into(),
        provider_model: "m-1".into(),
        profile: Some(profile),
        key: Key::Missing("P_KEY"),
    }
}

const PRICE: Price =
    Price { input: 1_250_000_000, cached_input: None, cache_write: None, output: 10_000_000_000 };

#[test]
fn counts_are_grouped_and_prices_are_dollars() {
    for (count, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_048_576, "1,048,576")] {
        assert_eq!(grouped(count), text);
    }
    for (nano, text) in [
        (0, "0.00"),
        (1, "0.001"),
        (75_000_000, "0.075"),
        (250_000_000, "0.25"),
        (10_000_000_000, "10.00"),
    ] {
        assert_eq!(dollars(nano), text);
    }
}

#[test]
fn a_model_is_a_row_and_a_line() {
    let priced = table(&[row(Some(PRICE))]);
    let cells: Vec<_> = priced.lines().nth(1).unwrap().split_whitespace().collect();
    let expected =
        ["m", "p", "1,048,576", "unknown", "yes", "1.25", "1.25", "10.00", "set", "P_KEY"];
    assert_eq!(cells, expected);
    let unpriced = table(&[row(None), Row::offline("offline")]);
    assert_eq!(unpriced.matches("unpriced").count(), 6, "{unpriced}");
    assert!(!unpriced.contains("0.00"), "{unpriced}");
    let line = json_lines(&[row(Some(PRICE))]);
    for part in [r#""key":"missing""#, r#""input":1250000000"#, r#""max_output_tokens":null"#] {
        assert!(line.contains(part), "no {part} in {line}");
    }
    for name in ["input", "cached_input", "cache_write", "output"] {
        assert!(line.contains(&format!("\"{name}\":")), "no {name} in {line}");
    }
    let line = json_lines(&[Row::offline("offline")]);
    assert!(line.contains(r#""nano_usd_per_million_tokens":null"#), "{line}");
}
