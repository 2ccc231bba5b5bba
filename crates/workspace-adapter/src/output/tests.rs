//! Checks that head and tail are what they say, within the limit.

use proptest::prelude::*;

use super::HeadTail;

fn kept(max_bytes: usize, chunks: &[&[u8]]) -> (String, bool) {
    let mut output = HeadTail::new(max_bytes);
    chunks.iter().for_each(|chunk| output.push(chunk));
    let kept = output.to_text();
    (kept.text, kept.is_cut)
}

#[test]
fn head_and_tail_are_kept() {
    let check = |max_bytes, chunks: &[&[u8]], expected: &str| {
        let is_cut = expected.contains("left out");
        assert_eq!(kept(max_bytes, chunks), (expected.to_owned(), is_cut), "{chunks:?}");
    };
    check(8, &[], "");
    check(8, &[b"12345678"], "12345678");
    check(8, &[b"1234", b"5678"], "12345678");
    check(8, &[b"123456789"], "1234\n[1 bytes left out]\n6789");
    check(8, &[b"1", b"23456", b"789", b"0"], "1234\n[2 bytes left out]\n7890");
    check(8, &[b"abcd", b"0123456789"], "abcd\n[6 bytes left out]\n6789");
    check(0, &[b"x"], "\n[1 bytes left out]\n");
    check(8, &["ab€ßx€".as_bytes()], "ab\n[5 bytes left out]\nx€");
    check(8, &[b"a\xff"], "a\u{fffd}");
    check(6, &[b"ab\xff\xfe\x80\x80\x80c"], "ab\u{fffd}\n[4 bytes left out]\nc");
}

proptest! {
    #[test]
    fn memory_is_bounded_and_short_output_whole(
        max_bytes in 0_usize..64,
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
    ) {
        let mut output = HeadTail::new(max_bytes);
        chunks.iter().for_each(|chunk| output.push(chunk));
        let whole = chunks.concat();
        prop_assert!(output.head.len() + output.tail.len() <= max_bytes);
        prop_assert!(whole.starts_with(&output.head));
        let tail: Vec<u8> = output.tail.iter().copied().collect();
        prop_assert!(whole.ends_with(&tail));
        let kept = output.to_text();
        prop_assert_eq!(kept.is_cut, whole.len() > max_bytes / 2 * 2);
        if !kept.is_cut {
            prop_assert_eq!(kept.text, String::from_utf8_lossy(&whole));
        }
    }
}
