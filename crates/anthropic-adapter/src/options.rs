//! Decides which fields say how a request shall be answered, and what cannot be asked.
//!
//! Knows nothing about messages. Invariant: an option is sent or refused before sending, never
//! dropped.

use runtime_ports::{GenerationOptions, ResponseFormat, ToolChoice};
use serde_json::{Map, Value, json};

use crate::{
    family::{ModelFamily, Reasoning, Temperature, Unasked},
    standing::{Standing, With},
};

/// Output limit of a request that has none of its own, for a model whose limit is not known. The
/// API insists on one; this one every model takes.
const DEFAULT_LIMIT: u64 = 4_096;
/// The same, for a model that decides by itself how long it thinks.
const DEFAULT_THINKING_LIMIT: u64 = 16_384;
/// Least tokens that can be given for thinking.
const LEAST_BUDGET: u64 = 1_024;
/// What an effort is worth to a model that wants a number of tokens.
const BUDGETS: [(&str, u64); 5] =
    [("low", 2_048), ("medium", 8_192), ("high", 16_384), ("xhigh", 24_576), ("max", 32_768)];

/// The effort of a model that shall not think.
const NO_EFFORT: &str = "none";
/// Efforts at which a model that could be told not to think cannot be.
const DEEPEST: [&str; 2] = ["xhigh", "max"];

/// What decides the fields of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) options: &'a GenerationOptions,
    pub(crate) family: ModelFamily,
    /// The output limit of the request, or else of the model; `None` when neither is known.
    pub(crate) limit: Option<u64>,
    pub(crate) has_tools: bool,
    pub(crate) one_call_at_a_time: bool,
    /// What the session asks each time.
    pub(crate) standing: &'a Standing,
}

type Fields = Vec<(&'static str, Value)>;

impl Asked<'_> {
    /// The fields.
    ///
    /// # Errors
    /// A sentence about what cannot be asked.
    pub(crate) fn fields(&self) -> Result<Fields, &'static str> {
        self.check()?;
        let thinking = self.thinking()?;
        let thinks = self.thinks(thinking.as_ref());
        let mut fields = vec![("max_tokens", self.max_tokens(thinking.as_ref()).into())];
        let options = self.options;
        fields.extend(options.temperature.map(|value| ("temperature", value.into())));
        if !options.stop.is_empty() {
            fields.push(("stop_sequences", json!(options.stop)));
        }
        fields.extend(self.tool_choice().map(|choice| ("tool_choice", choice)));
        fields.extend(thinking.map(|thinking| ("thinking", thinking)));
        let output = self.output_config()?;
        fields.extend((!output.is_empty()).then(|| ("output_config", output.into())));
        fields.extend(self.standing.fields(With { family: self.family, thinks })?);
        Ok(fields)
    }

    /// Whether the model thinks, as far as that is known.
    fn thinks(&self, thinking: Option<&Value>) -> bool {
        match thinking {
            Some(thinking) => thinking["type"] != "disabled",
            None => matches!(self.family.unasked, Unasked::Thinks | Unasked::Always),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let options = self.options;
        if let Some(value) = options.temperature {
            self.check_temperature(value)?;
        }
        if self.is_forced() && !self.family.forced_tools {
            return Err("this model cannot be made to call a tool; leave the tool choice to it");
        }
        if self.is_forced() && !self.has_tools {
            return Err("a required tool call needs tools");
        }
        let is_blank = |text: &String| text.trim().is_empty();
        if !self.family.blank_stops && options.stop.iter().any(is_blank) {
            return Err("a stop text must hold more than white space");
        }
        Ok(())
    }

    fn check_temperature(&self, value: f64) -> Result<(), &'static str> {
        if !value.is_finite() || value < 0.0 {
            return Err("the temperature must be a finite number from 0 on");
        }
        match self.family.temperature {
            Temperature::UpToOne if value > 1.0 => Err("this model takes temperatures from 0 to 1"),
            Temperature::One if is_not_one(value) => {
                Err("this model takes no temperature but 1; leave it out")
            }
            _ => Ok(()),
        }
    }

    const fn is_forced(&self) -> bool {
        matches!(self.options.tool_choice, ToolChoice::Required | ToolChoice::Named { .. })
    }

    /// The effort that the model shall spend; `None` when nothing is said of it.
    fn effort(&self) -> Result<Option<&str>, &'static str> {
        let effort = self.options.reasoning_effort.as_deref();
        let Some(effort) = effort.filter(|effort| *effort != NO_EFFORT) else { return Ok(None) };
        if self.family.reasoning == Reasoning::Never {
            return Err("this model does not reason; leave the reasoning effort out");
        }
        if !self.family.efforts.contains(&effort) {
            return Err("this model does not know that reasoning effort; try low, medium or high");
        }
        Ok(Some(effort))
    }

    /// A forced call and thinking exclude each other. A model that is guided by an effort gets the
    /// effort alone then; one that thinks within a budget cannot do what was asked.
    fn thinking(&self) -> Result<Option<Value>, &'static str> {
        if self.options.reasoning_effort.as_deref() == Some(NO_EFFORT) {
            return self.no_thinking();
        }
        let effort = self.effort()?;
        let adaptive = self.family.reasoning == Reasoning::Adaptive;
        if self.is_forced() && (adaptive || effort.is_none()) {
            return Ok(self.no_thinking_before_a_forced_call(effort));
        }
        let Some(effort) = effort else { return Ok(self.unasked_thinking()) };
        if self.is_forced() {
            return Err("this model cannot think before a forced tool call; leave the reasoning \
                        effort or the tool choice out");
        }
        if self.options.temperature.is_some_and(is_not_one) {
            return Err("a model that thinks takes no temperature but 1; leave it out");
        }
        if adaptive {
            return Ok(Some(self.shown(json!({"type": "adaptive"}))));
        }
        let budget = self.budget(effort)?;
        Ok(Some(self.shown(json!({"type": "enabled", "budget_tokens": budget}))))
    }

    fn no_thinking(&self) -> Result<Option<Value>, &'static str> {
        match self.family.unasked {
            Unasked::Silent => Ok(None),
            Unasked::Unknown | Unasked::Thinks => Ok(Some(json!({"type": "disabled"}))),
            Unasked::Always => Err("this model always thinks; choose another effort than none"),
        }
    }

    fn no_thinking_before_a_forced_call(&self, effort: Option<&str>) -> Option<Value> {
        let thinks = self.family.unasked == Unasked::Thinks;
        let is_deep = effort.is_some_and(|effort| DEEPEST.contains(&effort));
        (thinks && !is_deep).then(|| json!({"type": "disabled"}))
    }

    /// A model that thinks unasked must be told of it to show it.
    fn unasked_thinking(&self) -> Option<Value> {
        let thinks = matches!(self.family.unasked, Unasked::Thinks | Unasked::Always);
        let is_wanted = thinks && self.standing.display.is_some();
        is_wanted.then(|| self.shown(json!({"type": "adaptive"})))
    }

    fn shown(&self, mut thinking: Value) -> Value {
        if let Some(display) = self.standing.display {
            thinking["display"] = display.word().into();
        }
        thinking
    }

    /// The budget of an effort, at most half of the output limit, of which it is a part.
    fn budget(&self, effort: &str) -> Result<u64, &'static str> {
        let budget = BUDGETS.iter().find(|(name, _)| *name == effort);
        let budget = budget.map_or(LEAST_BUDGET, |(_, tokens)| *tokens);
        match self.limit {
            None => Ok(budget),
            Some(limit) if limit <= LEAST_BUDGET => {
                Err("thinking needs more than 1,024 output tokens; raise the output limit")
            }
            Some(limit) => Ok(budget.min(limit / 2).max(LEAST_BUDGET)),
        }
    }

    fn max_tokens(&self, thinking: Option<&Value>) -> u64 {
        let budget = thinking.and_then(|thinking| thinking.get("budget_tokens")?.as_u64());
        self.limit.unwrap_or(match budget {
            Some(budget) => DEFAULT_LIMIT + budget,
            None if self.thinks(thinking) => DEFAULT_THINKING_LIMIT,
            None => DEFAULT_LIMIT,
        })
    }

    fn tool_choice(&self) -> Option<Value> {
        if !self.has_tools {
            return None;
        }
        let one = self.one_call_at_a_time;
        let mut choice = match &self.options.tool_choice {
            ToolChoice::Auto if !one => return None,
            ToolChoice::Auto => json!({"type": "auto"}),
            ToolChoice::None => return Some(json!({"type": "none"})),
            ToolChoice::Required => json!({"type": "any"}),
            ToolChoice::Named { name } => json!({"type": "tool", "name": name}),
        };
        if one {
            choice["disable_parallel_tool_use"] = true.into();
        }
        Some(choice)
    }

    fn output_config(&self) -> Result<Map<String, Value>, &'static str> {
        let mut config = Map::new();
        let effort = self.effort()?.filter(|_| self.family.reasoning != Reasoning::Budget);
        config.extend(effort.map(|effort| ("effort".to_owned(), effort.into())));
        config.extend(self.format()?.map(|format| ("format".to_owned(), format)));
        Ok(config)
    }

    /// The schema is always enforced. Its name goes along as its title.
    fn format(&self) -> Result<Option<Value>, &'static str> {
        match &self.options.response_format {
            ResponseFormat::Text => Ok(None),
            ResponseFormat::JsonObject => {
                Err("the messages api has no json mode without a schema; give a json schema")
            }
            ResponseFormat::JsonSchema { .. } if !self.family.json_schema => {
                Err("this model cannot be held to a json schema; ask for text")
            }
            ResponseFormat::JsonSchema { name, schema, .. } => {
                let mut schema = schema.clone();
                if let Some(fields) = schema.as_object_mut() {
                    fields.entry("title").or_insert_with(|| name.as_str().into());
                }
                Ok(Some(json!({"type": "json_schema", "schema": schema})))
            }
        }
    }
}

fn is_not_one(value: f64) -> bool {
    (value - 1.0).abs() > f64::EPSILON
}

#[cfg(test)]
mod tests;
