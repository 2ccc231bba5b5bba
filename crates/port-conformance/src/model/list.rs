//! Decides which scenarios the model suite has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{ModelHarness, ModelNeed, scenarios};

/// Makes one test for each scenario of the model suite.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! model_conformance {
    ($harness:expr) => {
        $crate::__model_scenarios! { __scenario_tests { model, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        text_arrives_whole [] "an answer of text arrives whole, once, with its reason to stop"
        an_empty_answer_is_an_answer [] "an answer without content is an answer, no failure"
        any_text_survives [] "text arrives as it was written, whatever characters it has"
        a_long_text_arrives_whole [] "a quarter of a mebibyte in many fragments arrives whole"
        deltas_add_up_to_the_text [] "the text deltas, in order, are the text of the answer"
        streaming_changes_no_answer [] "invoke and invoke_streaming give the same answer"
        deltas_come_while_it_is_generated [LiveDeltas] "a delta is given before the answer is complete"
        reasoning_arrives_as_reasoning [Reasoning] "reasoning is a piece of its own, with its issuer, before the text"
        reasoning_goes_back_to_its_issuer [Reasoning ReasoningReplay] "what only the issuer can read goes back to it verbatim"
        foreign_reasoning_is_not_sent [] "reasoning of another issuer is never sent"

        calls_keep_their_order [] "several calls in one answer keep the model's order, names and arguments"
        call_ids_are_kept [] "the identities that the provider gave to calls are kept"
        missing_call_ids_are_made_up [MissingCallIds] "a call without identity gets one, nonempty and unique"
        empty_arguments_are_an_object [] "arguments without text are the empty object"
        unparsable_arguments_stay_text [] "arguments that are no JSON arrive as their raw text"
        string_arguments_keep_their_quotes [] "arguments that are a JSON string arrive as raw text, quotes included"
        cut_arguments_make_a_cut_answer [] "arguments that end early make the answer cut, without a call"
        text_before_calls_is_kept [] "text before a call stays before the call"
        calls_win_over_stop [] "an answer with calls asks for tools, whatever reason the provider states"
        call_deltas_add_up [] "the deltas of a call, in order, are the call"
        a_cut_answer_carries_no_call [] "an answer cut at a limit is Length, keeps its text, and carries no call"
        a_filtered_answer_says_so [] "an answer that a filter cut is ContentFilter"
        an_odd_finish_is_other [] "a reason to stop that is none of the known ones is Other, not Stop"

        reported_usage_arrives [] "the counts that the provider reports arrive, in the answer and its request"
        withheld_usage_is_unknown [] "usage that is not reported is unknown, never zero"
        partial_usage_keeps_its_gaps [] "a count that is not reported stays unknown beside those that are"
        reported_zero_is_zero [] "a reported zero is zero, not unknown"
        cache_writes_arrive [CacheWrites] "reported cache writes arrive"
        a_reported_cost_arrives [Cost] "the cost that the provider states arrives, in the answer and its request"
        an_unstated_cost_is_unknown [] "a cost that is not stated is unknown, never zero"
        a_request_keeps_the_providers_name [RequestIds] "the provider's name for the request is listed with it"

        every_role_reaches_the_provider [] "a history of all roles, calls and results is sent whole and in order"
        tools_are_offered_in_order [] "tools are offered with name, description and schema, in their order"
        the_output_limit_is_sent [] "max_output_tokens is sent"
        options_are_sent_or_refused [] "an option that is set is sent, or refused as Invalid before anything is sent; none is sent unasked"
        images_reach_the_provider [Images] "an image in a message is sent"
        the_profile_tells_of_images [] "the profile says whether images are taken"
        the_same_request_is_sent_alike [] "two equal requests are sent as the same bytes"
        calls_at_once_do_not_mix [] "eight calls at once get eight answers, each its own"
        the_profile_fits_itself [] "the windows of a profile are positive and fit each other"
        an_unknown_model_has_no_profile [KnowsItsModels] "the profile of a model that is not served is NotFound"
        a_failure_leaves_the_session_usable [] "after a failure the next call succeeds"

        an_invalid_request_is_invalid [] "a request that the provider calls malformed is Invalid, not committed"
        a_wrong_credential_is_forbidden [] "a refused credential is Forbidden, not committed"
        a_forbidden_request_is_forbidden [] "a refused permission is Forbidden, not committed"
        an_unknown_model_is_not_found [] "a model that the provider does not have is NotFound, not committed"
        a_rate_limit_is_typed [] "a rate limit is RateLimited, retryable, not committed, and not repeated inside"
        retry_after_is_carried [] "the time that the provider asks to wait is in the failure"
        context_overflow_is_told_apart [] "a prompt that does not fit is ContextOverflow, not committed"
        an_output_limit_is_told_apart [] "a too big max_output_tokens is OutputLimit, not committed"
        an_overloaded_provider_is_unavailable [] "an overloaded provider is Unavailable and retryable, its effect unknown, and not asked again inside"
        a_broken_provider_is_unavailable [] "a provider's own error is Unavailable, its effect unknown, and not asked again inside"
        a_malformed_answer_is_protocol [] "an answer that is not the protocol is Protocol, and not called uncommitted"
        refusals_echo_no_payload [] "the text of a failure holds nothing of the request"

        an_unreachable_provider_is_not_committed [] "a refused connection is Unavailable, retryable, not committed, without a request"
        a_cancelled_call_sends_nothing [] "a call under a cancelled operation is Canceled, and nothing is sent"
        a_late_call_sends_nothing [] "a call after its deadline is Timeout, and nothing is sent"
        cancelling_while_connecting_sends_nothing [WaitsToConnect] "a call that is cancelled while it connects ends soon: Canceled, not committed, without a request"
        a_deadline_while_connecting_sends_nothing [WaitsToConnect] "a deadline that passes while a call connects ends it: Timeout, not committed, without a request"
        cancelling_a_silent_call_ends_it [] "a cancelled wait for the answer ends soon: Canceled, unknown, its request listed"
        cancelling_amid_the_answer_ends_it [] "a call that is cancelled amid the answer ends soon: Canceled, unknown"
        a_deadline_ends_a_silent_call [] "a deadline ends the wait for the answer: Timeout, unknown, its request listed"
        a_deadline_ends_a_stalled_answer [] "a deadline ends a stalled answer: Timeout, unknown"
        a_cut_before_the_answer_is_unknown [] "a connection cut after sending is Protocol, unknown, and not repeated inside"
        a_cut_amid_the_answer_is_unknown [] "an answer cut in transit is Protocol, unknown, and not repeated inside"
        a_dropped_call_closes_its_request [] "dropping the call closes its connection"
        a_cancelled_call_closes_its_request [] "cancelling the call closes its connection"
        one_cancelled_call_leaves_the_others [] "cancelling one call leaves another of the same session alone"
    } };
}

crate::__model_scenarios! { __scenario_table { dyn ModelHarness, ModelNeed, scenarios } }
