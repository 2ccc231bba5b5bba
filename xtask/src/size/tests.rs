//! A size is told so that it is never made smaller than it is.

use super::*;

#[test]
fn a_size_is_rounded_up() {
    assert_eq!(told(MOST), "15728640 bytes, or 15.0 MiB");
    assert_eq!(told(MOST + 1), "15728641 bytes, or 15.1 MiB");
    assert_eq!(told(12_673_680), "12673680 bytes, or 12.1 MiB");
}
