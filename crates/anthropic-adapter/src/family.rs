//! Decides what can be asked of which family of models, as data.
//!
//! Knows the names of the vendor's models and what its documentation says of them. Invariant: a
//! model that no row names gets the widest row of its kind, so that the server decides.

/// What a family of models takes beside text and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelFamily {
    /// How it is told to reason.
    pub reasoning: Reasoning,
    /// Whether it reasons when a request does not speak of it.
    pub unasked: Unasked,
    /// The names of efforts that it knows.
    pub efforts: &'static [&'static str],
    /// Which temperatures it takes.
    pub temperature: Temperature,
    /// Whether it can be held to a JSON Schema.
    pub json_schema: bool,
    /// Whether it can be made to call a tool.
    pub forced_tools: bool,
    /// Whether results of tools in a history need tools in the request.
    pub results_need_tools: bool,
    /// Whether a stop text may be nothing but white space.
    pub blank_stops: bool,
}

/// Which temperatures a family of models takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temperature {
    /// Any that is not negative.
    Any,
    /// From 0 to 1.
    UpToOne,
    /// None but 1, which is what it has anyway.
    One,
}

/// How a family of models is told to reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasoning {
    /// It cannot be told.
    Never,
    /// With a budget of tokens that is fixed beforehand.
    Budget,
    /// With a budget, and an effort beside it.
    BudgetAndEffort,
    /// It decides by itself when to think, guided by an effort.
    Adaptive,
}

/// Whether a family of models reasons when a request does not speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unasked {
    /// It does not.
    Silent,
    /// Nobody says; it can be told not to.
    Unknown,
    /// It does; it can be told not to.
    Thinks,
    /// It does, whatever it is told.
    Always,
}

const THREE: &[&str] = &["low", "medium", "high"];
const FOUR: &[&str] = &["low", "medium", "high", "max"];
const FIVE: &[&str] = &["low", "medium", "high", "xhigh", "max"];

const fn family(reasoning: Reasoning, efforts: &'static [&'static str]) -> ModelFamily {
    ModelFamily {
        reasoning,
        unasked: Unasked::Silent,
        efforts,
        temperature: Temperature::UpToOne,
        json_schema: true,
        forced_tools: true,
        results_need_tools: true,
        blank_stops: false,
    }
}

const PLAIN: ModelFamily = ModelFamily { json_schema: false, ..family(Reasoning::Never, &[]) };
const EARLY: ModelFamily = ModelFamily { json_schema: false, ..family(Reasoning::Budget, THREE) };
const BUDGET: ModelFamily = family(Reasoning::Budget, THREE);
const ADAPTIVE: ModelFamily =
    ModelFamily { unasked: Unasked::Thinks, ..family(Reasoning::Adaptive, FIVE) };
const UNSAMPLED: ModelFamily = ModelFamily { temperature: Temperature::One, ..ADAPTIVE };
/// Those that think when they are asked to.
const ASKED: ModelFamily = ModelFamily { unasked: Unasked::Silent, ..UNSAMPLED };
const ALWAYS: ModelFamily = ModelFamily { unasked: Unasked::Always, ..UNSAMPLED };
/// Those that always think and cannot be made to call a tool.
const THINKING: ModelFamily = ModelFamily { forced_tools: false, ..ALWAYS };

/// The first row whose words a name begins with counts.
const FAMILIES: &[(&str, ModelFamily)] = &[
    ("claude-3-7-sonnet", EARLY),
    ("claude-3", PLAIN),
    ("claude-2", PLAIN),
    ("claude-instant", PLAIN),
    ("claude-opus-4-5", family(Reasoning::BudgetAndEffort, THREE)),
    ("claude-opus-4-6", family(Reasoning::Adaptive, FOUR)),
    ("claude-opus-4-7", ASKED),
    ("claude-opus-4-8", ASKED),
    ("claude-opus-4-1", BUDGET),
    ("claude-opus-4", EARLY),
    ("claude-sonnet-4-5", BUDGET),
    ("claude-sonnet-4-6", family(Reasoning::Adaptive, THREE)),
    ("claude-sonnet-4", EARLY),
    ("claude-haiku-4-5", BUDGET),
    ("claude-fable-5-1", THINKING),
    ("claude-opus-5-5", THINKING),
    ("claude-sonnet-5-5", THINKING),
    ("claude-mythos-5-1", THINKING),
    ("claude-fable-5", ALWAYS),
    ("claude-mythos", ALWAYS),
    ("claude-opus-5", UNSAMPLED),
    ("claude-sonnet-5", UNSAMPLED),
    ("claude-haiku-5", UNSAMPLED),
    ("claude-", ADAPTIVE),
];

impl ModelFamily {
    /// A model of another vendor behind this API: it gets budgets, and any temperature.
    pub const FOREIGN: Self = Self {
        temperature: Temperature::Any,
        unasked: Unasked::Unknown,
        results_need_tools: false,
        blank_stops: true,
        ..BUDGET
    };

    /// The family of a model, by its name, with or without the prefix of a gateway.
    ///
    /// ```
    /// use anthropic_adapter::{ModelFamily, Reasoning};
    ///
    /// assert_eq!(ModelFamily::of("claude-haiku-4-5").reasoning, Reasoning::Budget);
    /// assert_eq!(ModelFamily::of("anthropic/claude-opus-4-6").reasoning, Reasoning::Adaptive);
    /// assert_eq!(ModelFamily::of("smollm2"), ModelFamily::FOREIGN);
    /// ```
    #[must_use]
    pub fn of(model: &str) -> Self {
        // Some gateways write versions with a point.
        let name = model.to_lowercase().replace('.', "-");
        let Some(at) = name.find("claude-") else { return Self::FOREIGN };
        let row = FAMILIES.iter().find(|(words, _)| name[at..].starts_with(words));
        row.map_or(ADAPTIVE, |(_, family)| *family)
    }
}
