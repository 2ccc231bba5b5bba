//! How often a burst is looked for.

use super::Bursts;

/// The waits, from 0, at which a burst is looked for while there is none.
fn looks(bursts: &mut Bursts, waits: u32) -> Vec<u32> {
    let mut looks = Vec::new();
    for wait in 0..waits {
        if bursts.may_be_under_way() {
            looks.push(wait);
            bursts.learn(false);
        }
    }
    looks
}

#[test]
fn what_is_looked_for_in_vain_is_looked_for_less_often() {
    let mut bursts = Bursts::new();
    assert_eq!(looks(&mut bursts, 300), [0, 2, 5, 10, 19, 36, 69, 134, 199, 264]);
}

#[test]
fn in_a_burst_every_piece_is_looked_for() {
    let mut bursts = Bursts::new();
    looks(&mut bursts, 300);
    while !bursts.may_be_under_way() {}
    bursts.learn(true);
    for _ in 0..10 {
        assert!(bursts.may_be_under_way());
        bursts.learn(true);
    }
}
