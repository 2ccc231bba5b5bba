//! Decides which requests a scripted turn made, and what they add up to.
//!
//! Knows nothing about events. Invariant: what a request did not report is missing from the sum,
//! never zero in it, and the sum then says that it is a lower bound.

use runtime_ports::{Metering, RequestMeter, TokenUsage, UsageReceipt};

/// The requests of a turn whose script lists them.
pub(crate) struct TurnRequests {
    due: bool,
    in_flight: bool,
    ended: Vec<RequestMeter>,
}

impl Default for TurnRequests {
    fn default() -> Self {
        Self { due: true, in_flight: false, ended: Vec::new() }
    }
}

impl TurnRequests {
    /// The calls of the last answer are answered: the next request may leave.
    pub(crate) fn answered(&mut self) {
        self.due = true;
    }

    /// A request leaves, if one is due. False when the turn has made its `most` requests.
    pub(crate) fn leave(&mut self, most: u32) -> bool {
        if !self.due {
            return true;
        }
        let made = u32::try_from(self.ended.len()).unwrap_or(u32::MAX);
        self.due = false;
        self.in_flight = made < most;
        self.in_flight
    }

    /// The request at hand ends.
    pub(crate) fn end(&mut self, meter: RequestMeter) {
        self.in_flight = false;
        self.ended.push(meter);
    }

    /// Lists the requests in the receipt, with the one in flight as ended like the turn, and adds
    /// them up.
    pub(crate) fn account(&self, receipt: &mut UsageReceipt) {
        receipt.requests = self.ended.clone();
        receipt.requests.extend(self.in_flight.then(|| RequestMeter::unreported(receipt.end)));
        let reports: Vec<_> =
            receipt.requests.iter().map(|request| request.metering.tokens()).collect();
        let known = reports.iter().flatten().copied().reduce(sum_of_known);
        receipt.metering = known.map_or(Metering::Unavailable, Metering::Tokens);
        let whole = |report: &Option<TokenUsage>| {
            report
                .is_some_and(|usage| usage.input_tokens.is_some() && usage.output_tokens.is_some())
        };
        receipt.is_lower_bound = !reports.iter().all(whole);
        let costs = receipt.requests.iter().map(|request| request.cost_nano_usd);
        receipt.cost_nano_usd =
            costs.reduce(|sum, cost| Some(sum?.saturating_add(cost?))).flatten();
    }
}

fn sum_of_known(left: TokenUsage, right: TokenUsage) -> TokenUsage {
    let add = |left: Option<u64>, right: Option<u64>| match (left, right) {
        (Some(left), Some(right)) => Some(left.saturating_add(right)),
        (one, other) => one.or(other),
    };
    TokenUsage {
        input_tokens: add(left.input_tokens, right.input_tokens),
        output_tokens: add(left.output_tokens, right.output_tokens),
        cached_input_tokens: add(left.cached_input_tokens, right.cached_input_tokens),
        cache_write_tokens: add(left.cache_write_tokens, right.cache_write_tokens),
        reasoning_tokens: add(left.reasoning_tokens, right.reasoning_tokens),
    }
}
