//! Which profile an address or a name has, and which files are profiles.

use model_wire::Delivery;

use super::{PROFILE_VERSION, ProfileError, ServerProfile, ThinkTags, ToolCallIds};
use crate::profile::MaxTokensField;

#[test]
fn every_address_has_the_family_that_its_host_port_and_path_say() {
    let cases = [
        ("https://api.openai.com/v1", "openai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://chatgpt.com/backend-api/codex", "chatgpt"),
        ("https://x.openai.azure.com/openai/v1", "azure"),
        ("https://x.openai.azure.com/openai/deployments/d?api-version=1", "azure-deployment"),
        ("https://x.openai.azure.com", "azure-resource"),
        ("https://x.openai.azure.com/", "azure-resource"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("HTTPS://API.DEEPSEEK.COM", "deepseek"),
        ("https://api.groq.com/openai/v1", "groq"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-compat"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://[::1]:11434/v1", "ollama"),
        ("http://192.168.0.7:8000/v1", "vllm"),
        ("http://127.0.0.1:8080/v1", "llama.cpp"),
        ("http://gateway:4000", "litellm"),
        ("https://api.x.ai/v1", "xai"),
        ("https://models.example.com:8080/v1", "lenient"),
        ("https://notapi.openai.com.example.org/v1", "lenient"),
        ("https://fakeapi.mistral.ai.evil/v1", "lenient"),
        ("http://127.0.0.1:31999/v1", "lenient"),
        ("nonsense", "lenient"),
        ("", "lenient"),
    ];
    for (address, family) in cases {
        assert_eq!(ServerProfile::of_base_url(address).name, family, "{address}");
    }
}

#[test]
fn every_family_has_a_name_a_profile_and_a_file() {
    let names = ServerProfile::families();
    assert_eq!(names[0], "lenient");
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "a name twice");
    for name in names {
        let profile = ServerProfile::of_family(name).expect("a listed family has a profile");
        assert_eq!(profile.version, PROFILE_VERSION, "{name}");
        assert_eq!(ServerProfile::from_toml(&profile.to_toml()), Ok(profile), "{name}");
    }
    assert_eq!(ServerProfile::of_family("lenient"), Some(ServerProfile::default()));
    assert_eq!(ServerProfile::of_family("nobody"), None);
}

#[test]
fn a_file_may_say_only_what_differs() {
    let file = r#"
        version = 1
        name = "mine"
        tool_call_ids = "nine_alphanumerics"
        think_tags = "reasoning"
        only_delivery = "streamed"
        max_tokens_field = "max_completion_tokens"
        context_tokens = 4096
    "#;
    let expected = ServerProfile {
        name: "mine".into(),
        tool_call_ids: ToolCallIds::NineAlphanumerics,
        think_tags: ThinkTags::Reasoning,
        only_delivery: Some(Delivery::Streamed),
        max_tokens_field: MaxTokensField::MaxCompletionTokens,
        context_tokens: Some(4096),
        ..ServerProfile::default()
    };
    assert_eq!(ServerProfile::from_toml(file), Ok(expected));
    assert_eq!(
        ServerProfile::from_toml("version = 1\nname = \"lenient\""),
        Ok(ServerProfile::default())
    );
}

#[test]
fn what_is_no_profile_is_refused_with_its_line() {
    let cases = [
        ("version = 1\n\ntool_call_id = \"any\"", "line 3 of the server profile: unknown field"),
        ("version = 1\nstream_options = \"yes\"", "line 2 of the server profile: invalid type"),
        ("version = 1\nthink_tags = \"maybe\"", "line 2 of the server profile: unknown variant"),
        ("version = 1\nname = ", "line 2 of the server profile: "),
        ("name = \"x\"", "the server profile has no version; write `version = 1`"),
        ("version = 2\nnew_field = 1", "the server profile has version 2, and only 1 is known"),
        ("version = -1", "line 1 of the server profile: "),
        ("version = 1\nchat_path = \"a?b\"", "the field chat_path of the server profile must be"),
        ("version = 1\nresponses_path = \"http://x\"", "the field responses_path of the server"),
        ("version = 1\napi_version = \"a&b\"", "the field api_version of the server profile must"),
        ("version = 1\nkey_header = \"a b\"", "the field key_header of the server profile must"),
        ("version = 1\nreasoning_field = \"\"", "the field reasoning_field of the server profile"),
        ("version = 1\ncontext_tokens = 0", "the field context_tokens of the server profile must"),
    ];
    for (file, expected) in cases {
        let error = ServerProfile::from_toml(file).expect_err(file).to_string();
        assert!(error.starts_with(expected), "{file}: {error}");
    }
    let secret = ServerProfile::from_toml("version = 1\nname = 'sk-canary' x");
    assert!(matches!(&secret, Err(ProfileError::Malformed { line: 2, .. })), "{secret:?}");
    assert!(!secret.expect_err("no profile").to_string().contains("canary"));
}
