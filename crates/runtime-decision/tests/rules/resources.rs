//! Decides what becomes of instructions and skills that are loaded when a run starts.

use crate::notation::check;

#[test]
fn resources_are_loaded_beside_the_profile_and_placed_before_the_first_request() {
    check(
        r#"
        with resources
        instructions "Be kind."
        start alone
        profile
        resources "Be brief." "Be exact." skill "bake" "Use butter."
        show request
        model "done"
        "#,
        r#"
        "#,
    );
    check(
        r#"
        with resources
        start alone
        resources "Be brief."
        profile
        show request
        model "done"
        "#,
        r#"
        "#,
    );
}

#[test]
fn resources_are_none_of_the_history_and_stay_what_they_are() {
    check(
        r#"
        with resources
        tool a
        said user "earlier"
        start alone
        profile
        resources "Be brief."
        model a(1)
        suspend
        1 "one"
        store
        resume
        show request
        model "done"
        "#,
        r#"
        "#,
    );
}

#[test]
fn empty_resources_leave_the_request_as_it_is() {
    check(
        r#"
        with resources
        start alone
        profile
        resources " "
        show request
        model "done"
        "#,
        r#"
        "#,
    );
}

#[test]
fn resources_that_cannot_be_had_end_the_run() {
    check(
        r#"
        with resources
        start alone
        resources fails
        "#,
        r#"
        "#,
    );
    check(
        r#"
        with resources
        start alone
        profile fails
        "#,
        r#"
        "#,
    );
    check(
        r#"
        with resources
        start alone
        profile
        cancel
        "#,
        r#"
        "#,
    );
}

#[test]
fn resources_that_take_too_much_of_the_input_end_the_run() {
    let text = "word ".repeat(400);
    let script = format!("with resources\nstart alone\nresources {text:?}\nprofile");
    let told = crate::notation::happens(&script);
    assert!(told.ends_with("= failed resources_too_large\n= user \"go\""), "{told}");
}

#[test]
fn a_load_that_was_stopped_is_asked_for_again() {
    check(
        r#"
        with resources
        start alone
        suspend
        profile
        resources halted
        store
        show pending
        resume
        resources "Be brief."
        model "done"
        "#,
        r#"
        "#,
    );
    check(
        r#"
        with resources
        start alone
        profile
        crash
        resume
        resources "Be brief."
        model "done"
        "#,
        r#"
        "#,
    );
}
