//! Holds a receipt to telling each loss once, and to having an end.

use super::{Befallen, LossList, Omission};

fn told(told: impl FnOnce(&mut LossList)) -> Vec<String> {
    let mut losses = LossList::default();
    told(&mut losses);
    losses.sentences()
}

#[test]
fn a_loss_of_many_requests_is_told_once() {
    let substituted = || Befallen::Substituted { from: "a at b".into(), to: "c at d".into() };
    let reasoning = || Omission::Reasoning { issuer: "b".into(), to: "c at d".into() };
    let sentences = told(|losses| {
        for ordinal in 1..1_000 {
            losses.say("a at b failed (DOWN), c at d was asked instead".into());
            losses.omit(reasoning(), u64::from(ordinal));
            losses.omit(Omission::Pictures { to: "c at d".into() }, 1);
            losses.befell(substituted(), ordinal);
        }
    });
    assert_eq!(
        sentences,
        [
            "a at b failed (DOWN), c at d was asked instead",
            "999 pieces of reasoning by b left out for c at d",
            "1 picture replaced by a note for c at d",
            "requests 1 to 999 went to c at d, in the place of a at b",
        ]
    );
}

#[test]
fn requests_are_named_as_ranges_and_not_without_end() {
    let repeated = |ordinals: &[u32]| {
        told(|losses| ordinals.iter().for_each(|it| losses.befell(Befallen::Repeated, *it)))
    };
    let once = "request 4 got no conclusive answer and was sent once more; it may have been billed";
    assert_eq!(repeated(&[4]), [once]);
    assert_eq!(repeated(&[4, 4]), [once]);
    let several = repeated(&[0, 2, 3, 5, 6, 7, 8]);
    assert!(several[0].starts_with("requests 0, 2, 3, 5 to 8 got no"), "{several:?}");
    assert!(several[0].ends_with("sent once more each; they may have been billed"), "{several:?}");
    let every_other: Vec<_> = (0..1_000).map(|it| it * 2).collect();
    let [one] = &repeated(&every_other)[..] else { panic!("told once") };
    assert!(one.starts_with("requests 0, 2, 4, 6, 8, 10, 12, 14 and 992 more got no"), "{one}");
}

#[test]
fn sentences_that_nobody_expects_have_an_end() {
    let sentences = told(|losses| (0..1_000).for_each(|it| losses.say(format!("loss {it}"))));
    assert_eq!(sentences.len(), 65);
    assert_eq!(sentences[64], "936 more losses are not listed");
}
