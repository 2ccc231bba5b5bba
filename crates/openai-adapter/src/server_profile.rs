//! Decides in what a server of this API may depart from it, as data: a profile for each family of
//! servers, and one that fits them all.
//!
//! Knows nothing about requests and answers; those who write and read them ask here. Invariant:
//! whatever a profile does not say is as every known server takes it.
//!
//! Length: a profile has many fields, and each says what follows from it.

mod families;
mod file;

use model_wire::Delivery;
use serde::{Deserialize, Serialize};

pub use file::ProfileError;

use crate::profile::MaxTokensField;

/// The version of profile files that this crate reads and writes.
pub const PROFILE_VERSION: u32 = 1;

/// How one server speaks the API: everything in which servers differ, and nothing else.
///
/// `ServerProfile::default()` is the lenient profile, for servers of which nothing is known: it
/// asks for what every server takes, and reads everything that any server sends. What a server
/// turns out to refuse is learnt on top of a profile, for the life of a session.
///
/// A profile is made from the lenient one by changing fields, chosen by address or name, or read
/// from a file; a file may leave out every field but `version`.
///
/// # Examples
/// ```
/// use openai_adapter::{ServerProfile, SystemMessages};
///
/// let mut profile = ServerProfile::of_base_url("https://api.mistral.ai/v1");
/// assert_eq!(profile.name, "mistral");
/// profile.system_messages = SystemMessages::Anywhere;
/// let file = profile.to_toml();
/// assert_eq!(ServerProfile::from_toml(&file), Ok(profile));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerProfile {
    /// The version of the format: [`PROFILE_VERSION`]. A file must have it.
    pub version: u32,
    /// What the server is called, for people: the name of a family, or any other.
    pub name: String,

    /// Path of Chat Completions below the base URL; `{model}` stands for the name of the model, as
    /// in the deployments of Azure.
    pub chat_path: String,
    /// Path of Responses below the base URL; `{model}` as above.
    pub responses_path: String,
    /// Path of the list of models below the base URL.
    pub models_path: String,
    /// Sent as the query `api-version`, unless the base URL has one of that name.
    pub api_version: Option<String>,
    /// The header that takes the key as it is, instead of `authorization: Bearer …`. What the
    /// builder was told comes first.
    pub key_header: Option<String>,

    /// The name of the output limit in Chat Completions.
    pub max_tokens_field: MaxTokensField,
    /// Whether usage at the end of a stream may be asked for by `stream_options`. Where it may
    /// not, an answer can be without usage, which is then unknown.
    pub stream_options: bool,
    /// The one way of delivery that the server has. `None`: both.
    pub only_delivery: Option<Delivery>,
    /// Where system messages may stand.
    pub system_messages: SystemMessages,
    /// The role of instructions.
    pub instructions_role: InstructionsRole,
    /// Which tool choices the server takes. A choice beyond them is made in an equal way or refused
    /// before anything is sent, and never forgotten.
    pub tool_choice: ToolChoices,
    /// Whether the field `parallel_tool_calls` is known. Without it, an answer may have several
    /// calls, whatever was asked.
    pub parallel_tool_calls: bool,
    /// Whether stop texts are known. Where they are not, a request with one is refused before
    /// anything is sent.
    pub stop_texts: bool,
    /// Which forms of an answer the server can be asked for.
    pub answer_forms: AnswerForms,
    /// What the server does with the demand that a schema is followed to the letter.
    pub strict_schemas: StrictSchemas,
    /// Whether a form of the answer may be asked for beside a tool call that is required. Where it
    /// may not, the form is left out: an answer that is a call has none.
    pub form_beside_required_call: bool,
    /// Which ids of tool calls the server takes back.
    pub tool_call_ids: ToolCallIds,
    /// Where images of tool results stand.
    pub result_images: ResultImages,

    /// When a chat model's reasoning goes back to it.
    pub reasoning_replay: ReasoningReplay,
    /// The field that reasoning goes back in where none came: `reasoning_content`, `reasoning`.
    /// Reasoning that came goes back in the field that it came in.
    pub reasoning_field: String,
    /// What a chat answer that begins with `<think>` means.
    pub think_tags: ThinkTags,

    /// Whether Responses can be asked for encrypted reasoning, which goes back with later requests.
    pub encrypted_reasoning: bool,
    /// Whether items that go back may have a `status`.
    pub item_status: bool,
    /// Whether messages that go back may have the `phase` that they came with.
    pub item_phase: bool,
    /// Whether the calls of a turn stand behind everything else of it, also behind reasoning that
    /// came between them.
    pub calls_last: bool,
    /// Whether responses can be continued by `previous_response_id`. Used only by sessions that
    /// were built to.
    pub previous_response_id: bool,

    /// How cached tokens of the prompt are counted.
    pub cached_tokens: PartCount,
    /// How reasoning tokens of the answer are counted.
    pub reasoning_tokens: PartCount,
    /// Tokens of context that the server was set up with, where that is less than its models have:
    /// the profile of a model never promises more.
    pub context_tokens: Option<u64>,
    /// Whether a prompt that is too long is cut without a word. Requests that do not fit
    /// `context_tokens` are then refused before anything is sent, and an answer to a prompt of
    /// which the server counted less than a quarter is a failure.
    pub cuts_silently: bool,
}

/// Where system messages may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemMessages {
    /// One, at the front. Those at the front become one; later ones are sent as the user's.
    OneAtTheFront,
    /// Anywhere. Those at the front become one nevertheless.
    Anywhere,
}

/// The role of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionsRole {
    /// `system`, which every server knows.
    System,
    /// `developer`.
    Developer,
}

/// Which tool choices a server takes, beside `auto` and `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoices {
    /// `required`, and a function by its name.
    Named,
    /// `required`. A function is chosen by sending that one alone.
    Required,
    /// Neither.
    AutoOnly,
}

/// Which forms of an answer a server can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForms {
    /// Text alone. JSON of any kind is refused before anything is sent.
    Text,
    /// Any JSON object. A schema that need not be followed to the letter is sent as this.
    JsonObject,
    /// JSON that follows a schema.
    JsonSchema,
}

/// What a server does with the demand that a schema is followed to the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrictSchemas {
    /// It does not know the field; it is left out.
    Unknown,
    /// It takes any schema.
    Any,
    /// It takes schemas of a subset: objects are closed, and all their properties are required.
    /// Others are refused before anything is sent.
    ClosedObjects,
}

/// Which ids of tool calls a server takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallIds {
    /// Any.
    Any,
    /// Nine letters and digits. Others are replaced by such, the same for a call and its result.
    NineAlphanumerics,
}

/// Where images of tool results stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultImages {
    /// In a user's message behind the results of the turn, which every server takes.
    BehindTheResults,
    /// In their result.
    InTheResult,
}

/// When a chat model's reasoning goes back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningReplay {
    /// Never.
    Never,
    /// What came, with the calls that it led to.
    WithCalls,
    /// With every turn that calls tools, and be it empty: what came, or nothing at all of it.
    WithEveryCall,
    /// What came, with every turn.
    Always,
}

/// What a chat answer that begins with `<think>` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkTags {
    /// Text: it stays as it came.
    Text,
    /// What stands between `<think>` and `</think>` at the front is reasoning. A tag that is never
    /// closed is text.
    Reasoning,
    /// The same, of a server that leaves the opening tag out.
    ReasoningAlreadyOpen,
}

/// Whether a part is counted within its whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartCount {
    /// The numbers themselves say it: beside where the total proves it, within otherwise.
    AsTheTotalSays,
    /// Within: a part above its whole is unknown.
    Within,
    /// Beside: the whole is both together.
    Beside,
}

impl Default for ServerProfile {
    /// The lenient profile.
    fn default() -> Self {
        Self {
            version: PROFILE_VERSION,
            name: "lenient".to_owned(),
            chat_path: "chat/completions".to_owned(),
            responses_path: "responses".to_owned(),
            models_path: "models".to_owned(),
            api_version: None,
            key_header: None,
            max_tokens_field: MaxTokensField::MaxTokens,
            stream_options: true,
            only_delivery: None,
            system_messages: SystemMessages::OneAtTheFront,
            instructions_role: InstructionsRole::System,
            tool_choice: ToolChoices::Named,
            parallel_tool_calls: false,
            stop_texts: true,
            answer_forms: AnswerForms::JsonSchema,
            strict_schemas: StrictSchemas::Any,
            form_beside_required_call: true,
            tool_call_ids: ToolCallIds::Any,
            result_images: ResultImages::BehindTheResults,
            reasoning_replay: ReasoningReplay::WithCalls,
            reasoning_field: "reasoning_content".to_owned(),
            think_tags: ThinkTags::Text,
            encrypted_reasoning: true,
            item_status: false,
            item_phase: false,
            calls_last: false,
            previous_response_id: true,
            cached_tokens: PartCount::AsTheTotalSays,
            reasoning_tokens: PartCount::AsTheTotalSays,
            context_tokens: None,
            cuts_silently: false,
        }
    }
}

impl ServerProfile {
    /// The profile of the server at `base_url`, judged by host, port and path; the lenient one
    /// where they say nothing.
    #[must_use]
    pub fn of_base_url(base_url: &str) -> Self {
        families::of_base_url(base_url)
    }

    /// The profile of a family by its name, as [`Self::families`] lists it.
    #[must_use]
    pub fn of_family(name: &str) -> Option<Self> {
        families::of_name(name)
    }

    /// The names of all families, `lenient` first.
    #[must_use]
    pub fn families() -> Vec<&'static str> {
        families::names()
    }

    /// Reads a profile file.
    ///
    /// # Errors
    /// [`ProfileError`], which names the line.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        file::read(text)
    }

    /// The profile as a file that [`Self::from_toml`] reads: every field is in it.
    #[must_use]
    pub fn to_toml(&self) -> String {
        file::written(self)
    }
}

#[cfg(test)]
mod tests;
