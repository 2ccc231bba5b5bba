//! Decides which failure an unsuccessful answer is: its kind, whether it may pass, and whether the
//! request took effect.
//!
//! Knows nothing about connections. Invariant: a 4xx is a refusal and not committed; a 5xx, and
//! whatever was cut, is unknown; no message holds a byte of a body beyond the provider's own code.

use std::time::Duration;

use reqwest::StatusCode;
use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind as Kind};

use crate::{
    metering::Meter,
    refusal::Refusal,
    wording::{Size, number_after},
};

/// A row of the tables below: a failure without its disposition.
#[derive(Clone, Copy)]
struct Verdict {
    kind: Kind,
    code: &'static str,
    message: &'static str,
    retryable: bool,
}

const fn final_(kind: Kind, code: &'static str, message: &'static str) -> Verdict {
    Verdict { kind, code, message, retryable: false }
}

const fn passing(kind: Kind, code: &'static str, message: &'static str) -> Verdict {
    Verdict { kind, code, message, retryable: true }
}

/// The failure of a request that was answered with an HTTP error.
pub fn of_status(
    status: StatusCode,
    refusal: &Refusal,
    retry_after: Option<Duration>,
) -> PortFailure {
    let verdict = by_wording(status, refusal).unwrap_or_else(|| by_status(status, refusal));
    let commit = if status.is_server_error() {
        CommitDisposition::Unknown
    } else {
        CommitDisposition::NotCommitted
    };
    let mut failure = verdict.into_failure(&format!("http {}", status.as_u16()), refusal, commit);
    let wait = retry_after.or(refusal.retry_after);
    failure.retry_after = wait.filter(|_| failure.retryable);
    failure
}

/// The failure of a request whose answer, at HTTP 200, was or contained an error. A refusal before
/// the first piece of an answer is one; everything else is unknown. After a piece, nothing is
/// [`Kind::Unavailable`]: a provider that generated a part of an answer, for a price, has served.
pub fn of_event(refusal: &Refusal, delivered: bool) -> PortFailure {
    let status = told_status(refusal).unwrap_or(StatusCode::OK);
    let verdict = by_wording(status, refusal).unwrap_or_else(|| by_code(refusal));
    let verdict = if delivered { verdict.amid_an_answer() } else { verdict };
    let refused = !matches!(verdict.kind, Kind::Unavailable | Kind::Protocol | Kind::Timeout);
    let commit = if refused && !delivered {
        CommitDisposition::NotCommitted
    } else {
        CommitDisposition::Unknown
    };
    let mut failure = verdict.into_failure("an error event", refusal, commit);
    failure.retry_after = refusal.retry_after.filter(|_| failure.retryable);
    failure
}

/// The same of a request for which the provider counted, or did not, what the model wrote: what was
/// counted took effect, also where nothing of it was shown.
pub fn of_counted_event(refusal: &Refusal, delivered: bool, meter: &Meter) -> PortFailure {
    let mut failure = of_event(refusal, delivered);
    if meter.has_output() {
        failure.commit = CommitDisposition::Unknown;
    }
    failure
}

/// The failure of an answer that broke the protocol after the request was sent.
pub fn broken(code: &str, message: &str) -> PortFailure {
    PortFailure::in_flight_unknown(Kind::Protocol, code, message).retryable()
}

/// The answer ended before it was finished.
pub fn truncated() -> PortFailure {
    broken("STREAM_TRUNCATED", "the answer ended before the provider finished it")
}

impl Verdict {
    const fn amid_an_answer(self) -> Self {
        match self.kind {
            Kind::Unavailable => Self { kind: Kind::Protocol, ..self },
            _ => self,
        }
    }

    fn into_failure(
        self,
        source: &str,
        refusal: &Refusal,
        commit: CommitDisposition,
    ) -> PortFailure {
        let message = format!("{}; the provider sent {source}{}", self.message, refusal.label());
        let failure = match commit {
            CommitDisposition::Unknown => {
                PortFailure::in_flight_unknown(self.kind, self.code, message)
            }
            _ => PortFailure::rejected(self.kind, self.code, message),
        };
        if self.retryable { failure.retryable() } else { failure }
    }
}

const THROTTLED: Verdict =
    passing(Kind::RateLimited, "RATE_LIMITED", "too many requests; wait before the next one");
const ABOVE_RATE: Verdict = final_(
    Kind::RateLimited,
    "REQUEST_ABOVE_RATE",
    "the request alone has more tokens than the account may send in a minute; make it smaller",
);
const OVERFLOW: Verdict = final_(
    Kind::ContextOverflow,
    "CONTEXT_OVERFLOW",
    "the prompt does not fit the model's context window; make it smaller",
);
const OUTPUT_LIMIT: Verdict = final_(
    Kind::OutputLimit,
    "OUTPUT_LIMIT",
    "max_output_tokens is too big for this model; ask for fewer",
);
const MODERATED: Verdict = final_(
    Kind::Invalid,
    "CONTENT_REJECTED",
    "a content filter of the provider refuses this request; change what is asked",
);
const QUOTA: Verdict = final_(
    Kind::RateLimited,
    "QUOTA_EXHAUSTED",
    "the account has no quota left; check plan and billing at the provider",
);
const UNKNOWN_MODEL: Verdict = final_(
    Kind::NotFound,
    "MODEL_NOT_FOUND",
    "the provider does not serve this model; choose one that it lists",
);
const PREVIOUS_GONE: Verdict = final_(
    Kind::NotFound,
    "PREVIOUS_RESPONSE_NOT_FOUND",
    "the provider does not have the response that was to be continued; send the whole conversation",
);
const NO_ENDPOINT: Verdict =
    final_(Kind::NotFound, "ENDPOINT_NOT_FOUND", "nothing is served there; check the base url");
const NOT_AUTHENTICATED: Verdict = final_(
    Kind::Forbidden,
    "AUTHENTICATION_FAILED",
    "the provider does not accept the api key; check it and the base url",
);
const NOT_PERMITTED: Verdict = final_(
    Kind::Forbidden,
    "PERMISSION_DENIED",
    "the api key may not do this; check its permissions and the model",
);
const NOT_SERVED_HERE: Verdict = final_(
    Kind::Forbidden,
    "PRECONDITION_FAILED",
    "the provider does not serve this account or region as it is; check billing and location",
);
const TOOL_USE_FAILED: Verdict = passing(
    Kind::Invalid,
    "TOOL_USE_FAILED",
    "the model wrote a tool call that the provider could not read; try again",
);
const OVERLOADED: Verdict =
    passing(Kind::Unavailable, "PROVIDER_OVERLOADED", "the provider is overloaded; try later");
const PROVIDER_FAILED: Verdict =
    passing(Kind::Unavailable, "PROVIDER_ERROR", "the provider failed; try later");
const INVALID: Verdict =
    final_(Kind::Invalid, "INVALID_REQUEST", "the provider refuses the request as malformed");
const TOO_LARGE: Verdict =
    final_(Kind::Invalid, "REQUEST_TOO_LARGE", "the request has too many bytes; make it smaller");
const REDIRECTED: Verdict = final_(
    Kind::Invalid,
    "REDIRECT_REFUSED",
    "the server redirects, which is not followed; set the final address as base url",
);
const CONFLICT: Verdict =
    passing(Kind::Conflict, "PROVIDER_CONFLICT", "the provider reports a conflict; try again");
const SLOW: Verdict =
    passing(Kind::Timeout, "PROVIDER_TIMEOUT", "the provider gave up waiting; try again");
const WEB_PAGE: Verdict = final_(
    Kind::Protocol,
    "NOT_AN_API",
    "a web page answered instead of the api; check the base url and what stands before it",
);

/// What the words of the refusal say, more precisely than its status.
fn by_wording(status: StatusCode, refusal: &Refusal) -> Option<Verdict> {
    if status == StatusCode::UNAUTHORIZED {
        return None;
    }
    match Size::of(refusal) {
        Some(Size::PromptTooLong) => return Some(OVERFLOW),
        Some(Size::AnswerTooLong) => return Some(OUTPUT_LIMIT),
        Some(Size::Throttled) if !status.is_server_error() => return Some(throttle(refusal)),
        _ => {}
    }
    let verdict = match () {
        () if refusal.moderated || refusal.is_any(FILTER_CODES) => MODERATED,
        () if refusal.is_any(TOOL_CODES) => TOOL_USE_FAILED,
        () if is_about_quota(refusal) => QUOTA,
        () if refusal.is_any(KEY_CODES) => NOT_AUTHENTICATED,
        () if refusal.is_any(&["FAILED_PRECONDITION"]) => NOT_SERVED_HERE,
        () if is_gone(status, refusal) => PREVIOUS_GONE,
        () if is_unknown_model(status, refusal) => UNKNOWN_MODEL,
        () => return None,
    };
    Some(verdict)
}

const FILTER_CODES: &[&str] = &[
    "content_filter",
    "ResponsibleAIPolicyViolation",
    "content_policy_violation",
    "moderation",
    "DataInspectionFailed",
    "data_inspection_failed",
    "sensitive_words_detected",
    "1026",
    "1027",
    "1301",
];
const TOOL_CODES: &[&str] = &["tool_use_failed", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"];
const KEY_CODES: &[&str] =
    &["API_KEY_INVALID", "ACCESS_TOKEN_EXPIRED", "CREDENTIALS_MISSING", "1003", "1004"];
const QUOTA_CODES: &[&str] = &[
    "insufficient_quota",
    "billing_hard_limit_reached",
    "insufficient_balance",
    "billing_error",
    "exceeded_current_quota_error",
    "insufficient_user_quota",
    "insufficient_credits",
    "Arrearage",
    "1008",
    "1113",
    "1308",
    "1309",
    "1310",
    "2056",
];
const QUOTA_WORDINGS: &[&str] = &[
    "credit balance is too low",
    "reached your specified api usage limits",
    "insufficient balance",
    "insufficient credits",
    "used all available credits",
    "run out of credits",
    "monthly spending limit",
    "extra usage is required",
    "usage credits are required",
    "free-models-per-day",
    "余额不足",
];
const MODEL_WORDINGS: &[&str] = &[
    "invalid model name",
    "unknown model",
    "no such model",
    "model not found",
    "a valid model",
    "try pulling it first",
];

fn throttle(refusal: &Refusal) -> Verdict {
    match () {
        () if is_about_quota(refusal) => QUOTA,
        () if is_above_rate(refusal) => ABOVE_RATE,
        () => THROTTLED,
    }
}

/// Whether one request has more than a whole minute may have: `Limit 6000, Requested 8000`.
fn is_above_rate(refusal: &Refusal) -> bool {
    let number = |words| number_after(&refusal.text, words);
    let above = number("limit ").zip(number("requested ")).is_some_and(|(most, all)| all > most);
    above && refusal.mentions(&["request too large"])
}

/// Waiting does not help against these.
fn is_about_quota(refusal: &Refusal) -> bool {
    refusal.quota_is_spent || refusal.is_any(QUOTA_CODES) || refusal.mentions(QUOTA_WORDINGS)
}

/// Whether a response that was to be continued is not there.
fn is_gone(status: StatusCode, refusal: &Refusal) -> bool {
    let is_named = refusal.param.as_deref() == Some("previous_response_id")
        || refusal.mentions(&["previous_response_id", "previous response"]);
    let is_missing = refusal.mentions(&["not found", "no longer", "expired", "does not exist"]);
    !status.is_server_error()
        && (refusal.is_any(&["previous_response_not_found"]) || (is_named && is_missing))
}

fn is_unknown_model(status: StatusCode, refusal: &Refusal) -> bool {
    if status.is_server_error() {
        return false;
    }
    let named = status == StatusCode::NOT_FOUND && refusal.text.contains("model");
    let about_model = named || refusal.param.as_deref() == Some("model");
    refusal.is_any(&["model_not_found", "model_not_available", "1211"])
        || refusal.mentions(MODEL_WORDINGS)
        || (named && refusal.is_any(&["not_found_error"]))
        || (about_model && refusal.mentions(&["does not exist", "not found"]))
}

fn by_status(status: StatusCode, refusal: &Refusal) -> Verdict {
    match status.as_u16() {
        401 => NOT_AUTHENTICATED,
        402 => QUOTA,
        403 if refusal.is_page => WEB_PAGE,
        403 => NOT_PERMITTED,
        404 | 405 | 410 => NO_ENDPOINT,
        408 => SLOW,
        409 => CONFLICT,
        413 => TOO_LARGE,
        425 | 429 => THROTTLED,
        // 498 is Groq's: no machine is left for requests of this tier.
        498 | 503 | 529 => OVERLOADED,
        300..=399 => REDIRECTED,
        400..=499 => INVALID,
        501 | 505 => final_(Kind::Unavailable, "PROVIDER_ERROR", "the provider cannot do this"),
        _ => PROVIDER_FAILED,
    }
}

const RATE_CODES: &[&str] = &[
    "rate_limit_exceeded",
    "rate_limit_error",
    "rate_limited",
    "too_many_requests",
    "RateLimitError",
    "RESOURCE_EXHAUSTED",
    "rate_limit_reached_error",
    "Throttling",
    "Throttling.RateQuota",
    "Throttling.AllocationQuota",
    "limit_requests",
    "limit_burst_rate",
    "throttlingException",
    "ThrottlingException",
    "REQUEST_LIMIT_EXCEEDED",
    "1302",
    "1303",
];

/// Errors inside of a stream have no status of their own; some carry one as their code.
fn by_code(refusal: &Refusal) -> Verdict {
    if let Some(status) = told_status(refusal) {
        return by_status(status, refusal);
    }
    let known = BY_CODE.iter().find(|(codes, _)| refusal.is_any(codes));
    known.map_or(PROVIDER_FAILED, |(_, verdict)| *verdict)
}

/// The status that an error carries as its code.
fn told_status(refusal: &Refusal) -> Option<StatusCode> {
    let numbers = [&refusal.code, &refusal.kind, &refusal.status].into_iter().flatten();
    let mut statuses = numbers.filter_map(|word| StatusCode::from_bytes(word.as_bytes()).ok());
    statuses.find(|status| (400..600).contains(&status.as_u16()))
}

/// What the codes of errors inside of a stream mean.
const BY_CODE: &[(&[&str], Verdict)] = &[
    (RATE_CODES, THROTTLED),
    (
        &[
            "invalid_api_key",
            "InvalidApiKey",
            "authentication_error",
            "UNAUTHENTICATED",
            "invalid_authentication_error",
            "incorrect_api_key_error",
            "2049",
        ],
        NOT_AUTHENTICATED,
    ),
    (&["permission_error", "PERMISSION_DENIED"], NOT_PERMITTED),
    (&["accessDeniedException", "AccessDeniedException"], NOT_PERMITTED),
    (
        &[
            "server_is_overloaded",
            "overloaded_error",
            "slow_down",
            "UNAVAILABLE",
            "engine_overloaded_error",
            "model_overloaded",
            "ServiceUnavailable",
            "serviceUnavailableException",
            "ServiceUnavailableException",
            "TEMPORARILY_UNAVAILABLE",
            "1305",
        ],
        OVERLOADED,
    ),
    (&["request_too_large"], TOO_LARGE),
    (&["timeout_error", "modelTimeoutException", "ModelTimeoutException"], SLOW),
    (&["not_found_error"], UNKNOWN_MODEL),
    (&["invalid_request_error", "invalid_prompt", "BadRequestError"], INVALID),
    (&["validationException", "ValidationException"], INVALID),
    (&["INVALID_ARGUMENT", "MISSING_THOUGHT_SIGNATURE", "BAD_REQUEST", "2013"], INVALID),
];

#[cfg(test)]
mod tests;
