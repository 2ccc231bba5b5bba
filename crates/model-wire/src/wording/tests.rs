//! Which refusals are about size, and about whose.

use super::Size;
use crate::refusal::Refusal;

fn check(expected: Option<Size>, texts: &[&str]) {
    for text in texts {
        let body = serde_json::json!({"error": {"message": text}}).to_string();
        assert_eq!(Size::of(&Refusal::of_body(body.as_bytes())), expected, "{text}");
    }
}

#[test]
fn overflows_of_every_server_are_recognised() {
    check(
        Some(Size::PromptTooLong),
        &[
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
            "This model's maximum context length is 4096 tokens. However, you requested 0 output tokens and your prompt contains at least 4097 input tokens",
            "Input length (9000) exceeds model's maximum context length (8192).",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "the request exceeds the available context size, try increasing it",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "Request too large: input length and max_tokens exceed context limit",
            "messages exceed context limit",
            "the request exceeds context limit",
            "the input length exceeds the context length",
            "However, the model is loaded with context length of only 4096 tokens, which is not enough.",
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            "The sum of prompt length (5000.0), query length (0) should not exceed max_num_tokens (4096)",
            "Context size has been exceeded.",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "The input token count exceeds the maximum number of tokens allowed (1048576).",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "However, you requested 0 output tokens and your prompt contains at least 4097 input tokens",
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            "too many tokens: total number of tokens in the prompt cannot exceed 4081",
            "prompt too long; exceeded max context length by 12 tokens",
            "The number of tokens to keep from the initial prompt is greater than the context length",
            "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
            "Invalid request: Your request exceeded model token limit: 8192",
            "prompt token count of 70000 exceeds the limit of 64000",
            "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
            "input length (9000) exceeds model\u{2019}s maximum context length (8192)",
            "This endpoint's maximum context length is 65536 tokens. However, you requested about 70500 tokens (70000 of text input, 500 in the output).",
            "ContextWindowExceededError: Hosted_vllmException - {\"object\":\"error\",\"message\":\"The input (1492905 tokens) is longer than the model's context length (1048576 tokens).\"}",
            "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.",
            "Requested tokens (5000) exceed context window of 4096",
            "Cannot truncate prompt with n_keep (9000) >= n_ctx (4096)",
            "Prompt length 9000 is greater than max_seq_len 8192",
            "Prompt sequence length is greater than the model's maximum sequence length",
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
            "The estimated number of input and maximum output tokens (40000) exceeded this model context window limit (32000).",
            "Total tokens of image and text exceed max message tokens. Request id: 021",
            "Prompt超长",
            "Requested token count exceeds the model's maximum context length of 65536 tokens. You requested a total of 70000 tokens: 60000 tokens from the input messages and 10000 tokens for the completion.",
            "This request exceeds the model's context limit",
            "the prompt is larger than the context size of the model",
            "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 32768 tokens and your request has 30000 input tokens (4000 > 32768 - 30000).",
            "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
            "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
        ],
    );
    let echoed = r#"{"detail":[{"type":"missing","loc":["body","tools",0],"msg":"Field required","input":"prompt is too long"}]}"#;
    assert_eq!(Size::of(&Refusal::of_body(echoed.as_bytes())), None, "what was asked says nothing");
    for body in [
        r#"{"error":{"code":"context_length_exceeded","message":"no"}}"#,
        r#"{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":4096}}"#,
    ] {
        let refusal = Refusal::of_body(body.as_bytes());
        assert_eq!(Size::of(&refusal), Some(Size::PromptTooLong), "{body}");
    }
}

#[test]
fn a_limit_of_the_answer_is_no_reason_to_compact() {
    check(
        Some(Size::AnswerTooLong),
        &[
            "This endpoint's maximum context length is 65536 tokens. However, you requested about 66000 tokens (500 of text input, 65500 in the output). Please reduce the length of either one.",
            "max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas you provided 100000.",
            "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
            "`max_tokens` must be less than or equal to `8192`",
            "Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.",
            "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 10 input tokens (5000 > 4096 - 10).",
            "(20 of text input, 30 of tool input, 9000 in the output)",
            "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
            "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
            "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
            "max_tokens=5000 cannot be greater than max_model_len=4096",
            "This model's maximum context length is 4096 tokens. However, you requested 5000 output tokens and your prompt contains at least 1 input tokens",
        ],
    );
}

#[test]
fn a_throttle_is_no_overflow() {
    check(
        Some(Size::Throttled),
        &[
            "Too many tokens, please wait before trying again.",
            "Request too large for gpt-4o on tokens per minute (TPM): Limit 30000, Requested 40000",
            "Rate limit reached for gpt-4o in organization x on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s.",
            "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 8000, please reduce your message size and try again.",
            "rate limit exceeded: too many tokens in the context window of one minute",
            "Rate limit reached: maximum context length is a red herring",
        ],
    );
    check(
        None,
        &[
            "the message is malformed",
            "",
            "too many tools",
            "the image is too large: 30 MB exceed 20 MB",
            "the name of the tool is too long",
            "the context window of this model is 4096 tokens",
            "you exceeded your current quota",
        ],
    );
}
