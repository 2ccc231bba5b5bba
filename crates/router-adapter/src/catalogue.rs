//! Decides which models exist, what they hold and what they cost.
//!
//! Knows nothing about sessions or credentials. Invariant: a catalogue that was read is valid; every
//! identifier and alias names exactly one model.

mod fallbacks;

use std::collections::HashMap;

use runtime_ports::{ModelProfile, Price};
use serde::Deserialize;
use thiserror::Error;

const LONGEST_NAME_BYTES: usize = 256;

/// The models that a [`Router`](crate::Router) knows, read from TOML.
///
/// # Examples
/// ```
/// use router_adapter::Catalogue;
///
/// let catalogue = Catalogue::parse(r#"
///     [[models]]
///     id = "writer"
///     provider = "house"
///     provider_model = "writer-2026-01"
///     aliases = ["best"]
///     context_window_tokens = 128_000
///     max_input_tokens = 120_000
///     max_output_tokens = 8_000
///
///     [models.price]                  # nano-dollars per million tokens
///     input = 2_500_000_000           # 2.50 dollars
///     output = 10_000_000_000
/// "#)?;
/// assert_eq!(catalogue.find("best").unwrap().id, "writer");
/// assert!(catalogue.find("bes").is_none());
/// # Ok::<(), router_adapter::CatalogueError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    models: Vec<CatalogueModel>,
    by_name: HashMap<String, usize>,
}

/// One model of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueModel {
    /// The identifier that callers use.
    pub id: String,
    /// Name of the provider, as the router's builder has it.
    pub provider: String,
    /// The model in the provider's words.
    pub provider_model: String,
    /// Other names of the model.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Tokens of prompt and answer together.
    pub context_window_tokens: u64,
    /// Most tokens of prompt.
    pub max_input_tokens: u64,
    /// Most tokens of answer; left out when not known.
    #[serde(default)]
    pub max_output_tokens: Option<u64>,
    /// Whether the model takes images.
    #[serde(default)]
    pub images: bool,
    /// Nano-dollars per million tokens; left out when not known, and a cost is then unknown.
    #[serde(default)]
    pub price: Option<CataloguePrice>,
    /// Names of models that may serve in its place, in this order; theirs follow after them.
    #[serde(default)]
    pub fallbacks: Vec<String>,
}

/// Nano-dollars per million tokens, as a catalogue writes them: one dollar is `1_000_000_000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CataloguePrice {
    /// Prompt tokens that came from no cache.
    pub input: u64,
    /// Prompt tokens read from a cache; `input` when left out.
    #[serde(default)]
    pub cached_input: Option<u64>,
    /// Prompt tokens written to a cache; `input` when left out.
    #[serde(default)]
    pub cache_write: Option<u64>,
    /// Answer tokens.
    pub output: u64,
}

/// Why a catalogue was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// No TOML, a field that is missing, unknown or of the wrong type.
    #[error("the catalogue cannot be read: {0}")]
    Malformed(String),
    /// A name that is empty, too long, or has control characters or white space at an end.
    #[error(
        "model number {position}: {field} must be 1 to {LONGEST_NAME_BYTES} bytes \
         without control characters or white space at its ends"
    )]
    BadName {
        /// Position of the model in the file, from 1.
        position: usize,
        /// The field with the bad name.
        field: &'static str,
    },
    /// Two models claim one name, or one model claims it twice.
    #[error("the name {name} is given twice; every id and alias must be unique")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A size of zero.
    #[error("model {id}: {field} is 0; give its size in tokens or leave an optional one out")]
    ZeroSize {
        /// The model.
        id: String,
        /// The field.
        field: &'static str,
    },
    /// A fallback that no model is named.
    #[error("model {id}: its fallback {name} is no model of the catalogue; add it or correct it")]
    UnknownFallback {
        /// The model.
        id: String,
        /// The fallback.
        name: String,
    },
    /// Fallbacks that lead back to where they began.
    #[error("model {id}: its fallbacks lead back to it; leave one of them out")]
    FallbackCycle {
        /// The model.
        id: String,
    },
    /// A part that is larger than the whole window.
    #[error("model {id}: {field} is larger than context_window_tokens")]
    LargerThanWindow {
        /// The model.
        id: String,
        /// The field.
        field: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogueFile {
    #[serde(default)]
    models: Vec<CatalogueModel>,
}

impl Catalogue {
    /// Reads a catalogue from TOML and validates it.
    ///
    /// # Errors
    /// [`CatalogueError`], which names the model and the field.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let file: CatalogueFile =
            toml::from_str(text).map_err(|error| malformed(&error.to_string()))?;
        Self::of(file.models)
    }

    /// A catalogue of these models.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn of(models: Vec<CatalogueModel>) -> Result<Self, CatalogueError> {
        let mut by_name = HashMap::new();
        for (index, model) in models.iter().enumerate() {
            model.validate(index + 1)?;
            for name in model.names() {
                if by_name.insert(name.to_owned(), index).is_some() {
                    return Err(CatalogueError::DuplicateName { name: name.to_owned() });
                }
            }
        }
        let catalogue = Self { models, by_name };
        catalogue.models.iter().try_for_each(|model| fallbacks::check(&catalogue, model))?;
        Ok(catalogue)
    }

    /// The same catalogue with these fallbacks of one model, in the place of its own.
    ///
    /// # Errors
    /// As [`Self::parse`]; also when the model itself is not known.
    pub fn with_fallbacks(
        self,
        model: &str,
        fallbacks: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, CatalogueError> {
        let Some(place) = self.by_name.get(model).copied() else {
            let (id, name) = (model.to_owned(), model.to_owned());
            return Err(CatalogueError::UnknownFallback { id, name });
        };
        let mut models = self.models;
        models[place].fallbacks = fallbacks.into_iter().map(Into::into).collect();
        Self::of(models)
    }

    /// The model of this name and those that may serve in its place, in order, each once.
    #[must_use]
    pub fn chain(&self, name: &str) -> Vec<&CatalogueModel> {
        self.find(name).map(|model| fallbacks::chain(self, model)).unwrap_or_default()
    }

    /// The catalogue that comes with this crate: some well-known public models, with the prices of
    /// the date that the file states. Bring your own where a bill depends on it.
    ///
    /// # Panics
    /// Never: the file is valid, which a test proves.
    #[must_use]
    pub fn shipped() -> Self {
        Self::parse(include_str!("../catalogue.toml")).expect("the shipped catalogue is valid")
    }

    /// The model of exactly this identifier or alias.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&CatalogueModel> {
        self.by_name.get(name).map(|index| &self.models[*index])
    }

    /// All models, in the order of the file.
    #[must_use]
    pub fn models(&self) -> &[CatalogueModel] {
        &self.models
    }

    pub(crate) fn names_where(
        &self,
        wanted: impl Fn(&CatalogueModel) -> bool,
    ) -> impl Iterator<Item = &str> {
        let models = self.models.iter().filter(move |model| wanted(model));
        models.flat_map(CatalogueModel::names)
    }
}

impl CatalogueModel {
    /// What requests to the model may hold.
    #[must_use]
    pub fn profile(&self) -> ModelProfile {
        ModelProfile {
            context_window_tokens: self.context_window_tokens,
            max_input_tokens: self.max_input_tokens,
            max_output_tokens: self.max_output_tokens,
            images: self.images,
            price: self.price.map(Price::from),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.id).chain(self.aliases.iter().map(String::as_str))
    }

    fn validate(&self, position: usize) -> Result<(), CatalogueError> {
        let fixed = [
            ("id", &self.id),
            ("provider", &self.provider),
            ("provider_model", &self.provider_model),
        ];
        let aliases = self.aliases.iter().map(|alias| ("aliases", alias));
        match fixed.into_iter().chain(aliases).find(|(_, name)| !is_name(name)) {
            Some((field, _)) => Err(CatalogueError::BadName { position, field }),
            None => self.validate_sizes(),
        }
    }

    fn validate_sizes(&self) -> Result<(), CatalogueError> {
        let sizes = [
            ("context_window_tokens", Some(self.context_window_tokens)),
            ("max_input_tokens", Some(self.max_input_tokens)),
            ("max_output_tokens", self.max_output_tokens),
        ];
        let known = sizes.into_iter().filter_map(|(field, size)| size.map(|size| (field, size)));
        for (field, size) in known {
            let id = || self.id.clone();
            if size == 0 {
                return Err(CatalogueError::ZeroSize { id: id(), field });
            }
            if size > self.context_window_tokens {
                return Err(CatalogueError::LargerThanWindow { id: id(), field });
            }
        }
        Ok(())
    }
}

impl From<CataloguePrice> for Price {
    fn from(price: CataloguePrice) -> Self {
        let CataloguePrice { input, cached_input, cache_write, output } = price;
        Self { input, cached_input, cache_write, output }
    }
}

fn is_name(text: &str) -> bool {
    let fits = (1..=LONGEST_NAME_BYTES).contains(&text.len());
    fits && text.trim() == text && !text.chars().any(char::is_control)
}

fn malformed(reason: &str) -> CatalogueError {
    CatalogueError::Malformed(reason.trim_end().to_owned())
}

#[cfg(test)]
mod tests;
