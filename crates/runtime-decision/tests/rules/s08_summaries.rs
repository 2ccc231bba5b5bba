//! Rules of section 8 about summaries: a model that only sums up is paid for at its own price, and is
//! not asked for anything when nobody knows it.

use crate::notation::{check, happens};

/// A run that begins with a summary, by a model for summaries, under these words.
fn summed_up(words: &str) -> String {
    format!(
        r#"
        {words}
        price 2 1 3
        window 100000
        output 100
        context summarizer other
        said assistant long(3000)
        compact first
        start
        "#
    )
}

#[test]
fn s08_a_summariser_without_a_price_is_refused_where_the_agents_model_is() {
    let refused = r#"
        > run_failed budget_unpriced_model
        = failed budget_unpriced_model
        = user "go"
        "#;
    for limit in ["budget cost=9", "above cost=9", "task_budget cost=9"] {
        let script = format!("{limit}\nprice 2 1 3\nsummaries unpriced\ncontext summarizer other");
        check(&format!("{script}\nstart"), refused);
    }
    let told = happens(
        "budget cost=9\nprice 2 1 3\nsummaries unpriced\ncontext summarizer other\nstart\nshow error",
    );
    let words = "the cost is limited and nobody knows the price of other; \
        give the model a price, or limit tokens in the place of cost";
    assert!(told.contains(words), "{told}");
}

#[test]
fn s08_whose_price_matters_to_no_limit_is_not_asked_for_it() {
    // Without a limit of cost, and where nothing is ever summed up.
    for words in ["budget tokens=900000", "budget cost=900000\ncontext never", "price 2 1 3"] {
        let script =
            format!("{words}\nprice 2 1 3\nsummaries unpriced\ncontext summarizer other\nstart");
        let told = happens(&script);
        assert!(told.contains("-> model 1 messages"), "{told}");
    }
}

#[test]
fn s08_notes_in_the_place_of_results_need_no_price_of_a_summariser() {
    let told = happens(
        r#"
        budget cost=900000
        price 2 1 3
        window 1000
        cycles 20
        tool read read
        start
        model read(1)
        1 long(450)
        model read(2)
        2 long(50)
        model read(3)
        3 long(50)
        model read(4)
        4 long(80)
        model "done"
        "#,
    );
    assert!(told.contains("by micro") && told.contains("run_completed \"done\""), "{told}");
}

#[test]
fn s08_a_summary_costs_what_its_own_model_costs() {
    let charged = |price: &str, cost: &str| {
        let script = summed_up(&format!("budget cost=900000\n{price}"));
        let told = happens(&format!("{script}\nsummary \"did it\" {cost}\nmodel \"done\""));
        let rest = told.split("> charged ").nth(1).expect("a charge").to_owned();
        let words: Vec<_> = rest.split_whitespace().skip_while(|word| *word != "cost").collect();
        words[1].parse::<u64>().expect("a cost")
    };
    // Ten tokens at 7, and five at 9.
    assert_eq!(charged("summaries cost 7 1 9", "usage 10 5"), 115);
    assert_eq!(charged("summaries cost 7 1 9", "cost 77 usage 10 5"), 77);
    let reserved = charged("summaries cost 7 1 9", "");
    assert!(reserved > 6_000, "what nobody knows counts as it was reserved: {reserved}");
    let dearer = charged("summaries cost 70 10 90", "");
    assert!(dearer >= 10 * reserved - 100, "reserved at its own price: {dearer}, {reserved}");
}

#[test]
fn s08_a_summariser_whose_price_cannot_be_asked_for_ends_the_run() {
    check(
        r#"
        budget cost=9
        price 2 1 3
        context summarizer other
        start alone
        profile
        summarizer fails
        "#,
        r#"
        > run_started | -> profile | -> summarizer
        > run_failed model_profile_failed
        = failed model_profile_failed
        = user "go"
        "#,
    );
}
