//! What is a command, and what is said to the model.

use super::*;

#[test]
fn commands_are_known_by_their_name() {
    for (text, expected) in [
        ("/help", Slash::Help),
        ("/?", Slash::Help),
        ("/clear", Slash::New),
        ("/usage", Slash::Cost),
        ("/compact", Slash::Compact),
        ("/quit", Slash::Exit),
        ("/model", Slash::Model(None)),
        ("/model big-one", Slash::Model(Some("big-one".to_owned()))),
    ] {
        assert_eq!(read(text), Read::Command(expected), "{text}");
    }
}

#[test]
fn what_could_be_meant_for_the_model_is_a_message() {
    for text in ["hello", "/etc/hosts says what?", "/ is the root", " /exit", "1/2", "/Users", ""] {
        assert_eq!(read(text), Read::Message(text.to_owned()));
    }
    assert_eq!(read("//exit"), Read::Message("/exit".to_owned()));
}

#[test]
fn a_mistyped_command_is_not_sent() {
    for text in ["/exti", "/help me", "/model a b"] {
        assert_eq!(read(text), Read::Unknown(text.to_owned()));
    }
}

#[test]
fn a_beginning_is_completed_when_it_fits_one_command() {
    for (begun, whole) in [
        ("/mo", Some("/model ")),
        ("/he", Some("/help")),
        ("/c", None),
        ("/x", None),
        ("he", None),
        ("", None),
    ] {
        assert_eq!(complete(begun).as_deref(), whole, "{begun}");
    }
}

#[test]
fn help_fits_into_eighty_columns_and_names_every_command() {
    let help = help();
    assert!(help.lines().all(|line| line.chars().count() < 80), "{help}");
    for (name, ..) in COMMANDS {
        assert!(help.contains(name), "{name}");
    }
}
