//! With which flags targets are built, and what is passed on of what they say.

use super::*;

#[test]
fn only_a_sanitizer_asks_for_an_unstable_flag() {
    let unstable = |sanitizer| flags(sanitizer).iter().any(|flag| flag.starts_with("-Z"));
    assert!(!unstable(Sanitizer::None));
    assert!(unstable(Sanitizer::Address));
}

#[test]
fn a_line_for_each_input_that_is_kept_is_not_passed_on() {
    let cases = [
        ("#38\tINITED cov: 1210 ft: 3317 corp: 12/23Kb", true),
        ("#28419\tNEW    cov: 1320 ft: 3317 corp: 623/23Kb", false),
        ("#28472\tREDUCE cov: 1320 ft: 3317 corp: 623/23Kb", false),
        ("#90000\tDONE   cov: 1400 ft: 3318 corp: 624/23Kb", true),
        ("thread '<unnamed>' panicked at src/promises.rs:40:9:", true),
        ("stat::number_of_executed_units: 90000", true),
    ];
    for (line, told) in cases {
        assert_eq!(is_told(line), told, "{line}");
    }
}
