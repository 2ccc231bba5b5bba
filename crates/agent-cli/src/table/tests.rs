//! Decides whether columns stand under each other.

use super::{Side, Table};

#[test]
fn columns_are_as_wide_as_their_widest_cell() {
    let mut table = Table::new([("model", Side::Left), ("turns", Side::Right), ("", Side::Left)]);
    table.push(["gänseblümchen".into(), "1".into(), "x".into()]);
    table.push(["m".into(), "12345678".into(), String::new()]);
    table.push(["日本".into(), "2".into(), String::new()]);
    assert_eq!(
        table.into_text(),
        "model             turns\n\
         gänseblümchen         1  x\n\
         m              12345678\n\
         日本                  2\n"
    );
}
