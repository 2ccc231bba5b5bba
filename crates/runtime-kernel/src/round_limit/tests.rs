//! The round limit is recognised however it is wrapped, and by nothing but its type.

use anyhow::{Context as _, anyhow};
use thiserror::Error;

use super::{SessionRoundLimitError, is_session_round_limit};
use crate::AccountingError;

#[derive(Debug, Error)]
#[error("wrapped")]
struct Typed(#[source] SessionRoundLimitError);

#[derive(Debug, Error)]
#[error("wrapped again")]
struct Boxed(#[source] Box<dyn std::error::Error + Send + Sync>);

#[test]
fn the_limit_is_recognised_at_any_depth() {
    let limit = || SessionRoundLimitError::new(3);
    let wrapped: [anyhow::Error; 7] = [
        limit().into(),
        anyhow::Error::from(limit()).context("a").context("b"),
        Err::<(), _>(limit()).with_context(|| "c").unwrap_err(),
        anyhow!("another").context(limit()),
        Typed(limit()).into(),
        anyhow::Error::from(Boxed(Box::new(Typed(limit())))).context("d"),
        AccountingError::during(anyhow!("ledger down"), limit().into()),
    ];
    for error in wrapped {
        assert!(is_session_round_limit(&error), "{error:?}");
    }
}

#[test]
fn nothing_else_is_taken_for_the_limit() {
    let text = SessionRoundLimitError::new(3).to_string();
    assert_eq!(text, "the session used all of its 3 rounds; resume it with a higher round limit");
    assert!(!is_session_round_limit(&anyhow!(text.clone())));
    assert!(!is_session_round_limit(&anyhow!("x").context(text)));
}
