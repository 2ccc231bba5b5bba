//! Holds catalogues to naming each model once, and to saying what is wrong with them.

use runtime_ports::Price;

use super::{Catalogue, CatalogueError};

/// A model with these lines changed or added.
fn model(id: &str, lines: &str) -> String {
    let mut text = format!("[[models]]\nid = {id:?}\n");
    let defaults = [
        ("provider", "\"house\""),
        ("provider_model", "\"m-1\""),
        ("context_window_tokens", "1000"),
        ("max_input_tokens", "900"),
    ];
    for (field, value) in defaults {
        if !lines.lines().any(|line| line.trim_start().starts_with(&format!("{field} "))) {
            text.push_str(&format!("{field} = {value}\n"));
        }
    }
    text + lines + "\n"
}

fn error(text: &str) -> String {
    Catalogue::parse(text).expect_err("the catalogue is bad").to_string()
}

#[test]
fn models_are_found_by_id_and_alias_and_by_nothing_else() {
    let text = model("one", "aliases = [\"uno\", \"eins\"]") + &model("two", "");
    let catalogue = Catalogue::parse(&text).unwrap();
    for (name, found) in [
        ("one", Some("one")),
        ("uno", Some("one")),
        ("eins", Some("one")),
        ("two", Some("two")),
        ("One", None),
        ("on", None),
        ("one ", None),
        ("", None),
    ] {
        assert_eq!(catalogue.find(name).map(|model| model.id.as_str()), found, "{name:?}");
    }
}

#[test]
fn a_price_is_read_in_nano_dollars() {
    let text = model("one", "price = { input = 1_250_000_000, output = 10, cached_input = 5 }");
    let price = Catalogue::parse(&text).unwrap().models()[0].profile().price;
    let expected =
        Price { input: 1_250_000_000, cached_input: Some(5), cache_write: None, output: 10 };
    assert_eq!(price, Some(expected));
}

#[test]
fn bad_catalogues_say_what_is_wrong() {
    let twice = |name| format!("the name {name} is given twice");
    let cases = [
        (model("one", "") + &model("one", ""), twice("one")),
        (model("one", "aliases = [\"two\"]") + &model("two", ""), twice("two")),
        (model("one", "aliases = [\"a\"]") + &model("two", "aliases = [\"a\"]"), twice("a")),
        (model("one", "aliases = [\"one\"]"), twice("one")),
        (model("one", "colour = 1"), "unknown field `colour`".into()),
        (model("one", "price = { input = 1, output = 1, extra = 1 }"), "`extra`".into()),
        (model("one", "price = { input = 1 }"), "missing field `output`".into()),
        (model("one", "price = { input = 1.5, output = 1 }"), "cannot be read".into()),
        ("[[models]]\nid = \"one\"".into(), "missing field".into()),
        ("models = 3".into(), "cannot be read".into()),
        ("other = 3".into(), "unknown field `other`".into()),
        (model("one", "context_window_tokens = 0"), "one: context_window_tokens is 0".into()),
        (model("one", "max_input_tokens = 0"), "one: max_input_tokens is 0".into()),
        (model("one", "max_output_tokens = 0"), "one: max_output_tokens is 0".into()),
        (model("one", "max_input_tokens = 1001"), "max_input_tokens is larger".into()),
        (model("one", "context_window_tokens = -5"), "cannot be read".into()),
        (model("", ""), "model number 1: id must be".into()),
        (model("one", "") + &model(" two", ""), "model number 2: id must be".into()),
        (model("one", "provider = \"a\\u0007\""), "provider must be".into()),
        (model("one", "aliases = [\"\"]"), "aliases must be".into()),
        (model(&"x".repeat(257), ""), "id must be".into()),
        (model("one", "fallbacks = [\"two\"]"), "its fallback two is no model".into()),
        (model("one", "fallbacks = [\"one\"]"), "one: its fallbacks lead back to it".into()),
        (
            model("one", "aliases = [\"uno\"]\nfallbacks = [\"two\"]")
                + &model("two", "fallbacks = [\"uno\"]"),
            "one: its fallbacks lead back to it".into(),
        ),
    ];
    for (text, expected) in cases {
        let error = error(&text);
        assert!(error.contains(&expected), "{error:?} does not say {expected:?} of\n{text}");
    }
}

#[test]
fn an_empty_catalogue_is_valid_and_knows_nothing() {
    assert!(Catalogue::parse("").unwrap().find("one").is_none());
}

#[test]
fn the_shipped_catalogue_is_valid_and_its_prices_are_plausible() {
    let catalogue = Catalogue::shipped();
    assert!(!catalogue.models().is_empty());
    for model in catalogue.models() {
        let Some(price) = model.price else { continue };
        let dollars = 1_000_000_000;
        assert!(price.input < price.output && price.output < 100 * dollars, "{}", model.id);
        assert!(price.cached_input.is_none_or(|cached| cached < price.input), "{}", model.id);
    }
}

#[test]
fn errors_can_be_told_apart() {
    let zero = Catalogue::parse(&model("one", "max_input_tokens = 0")).unwrap_err();
    let expected = CatalogueError::ZeroSize { id: "one".into(), field: "max_input_tokens" };
    assert_eq!(zero, expected);
}

#[test]
fn fallbacks_follow_their_model_each_with_its_own_and_each_once() {
    let text = model("a", "fallbacks = [\"b\", \"see\"]")
        + &model("b", "fallbacks = [\"d\"]")
        + &model("c", "aliases = [\"see\"]\nfallbacks = [\"d\", \"e\"]")
        + &model("d", "")
        + &model("e", "");
    let catalogue = Catalogue::parse(&text).unwrap();
    let chain = |catalogue: &Catalogue, name: &str| -> Vec<String> {
        catalogue.chain(name).iter().map(|model| model.id.clone()).collect()
    };
    assert_eq!(chain(&catalogue, "a"), ["a", "b", "d", "c", "e"]);
    assert_eq!(chain(&catalogue, "see"), ["c", "d", "e"]);
    assert!(chain(&catalogue, "nobody").is_empty());
    let changed = catalogue.clone().with_fallbacks("a", ["e"]).unwrap();
    assert_eq!(chain(&changed, "a"), ["a", "e"]);
    for (model, fallback) in [("nobody", "a"), ("a", "nobody"), ("d", "a"), ("a", "a")] {
        assert!(catalogue.clone().with_fallbacks(model, [fallback]).is_err(), "{model}");
    }
}
