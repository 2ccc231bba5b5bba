//! Decides how each level makes the request of a run smaller, and whether what it made is taken.
//!
//! Knows nothing about when levels are reached. Invariant: a level is taken only when the request
//! has fewer tokens with it; else everything stays as it was.

use std::sync::Arc;

use runtime_ports::{
    ArtifactDigest, EffectClass, GenerationOptions, ModelRequest, ModelResponse, ToolKind, ToolSet,
    estimate_text_tokens,
};

use super::{
    Compaction, Context, Measured, Rewrite, Summary,
    compaction::{Cause, Level},
    estimate::{estimated, plain_within},
    exchange::{Cut, Exchanges},
    rebased::rebased,
    room::{most_prompt_tokens, part},
    stand_in::{StandIn, excerpt, notes, squeezed, text_of_result, to_offload},
    summary::{message, request, room_for_messages, text_of_answer},
};
use crate::{
    Machine,
    hook::edited,
    spending::Spending,
    state::{Ask, Phase, RequestView},
};

/// Most results that become artifacts at once.
const MOST_OFFLOADED: usize = 32;
/// Most times that a request for a summary is halved.
pub(crate) const MOST_HALVINGS: u32 = 2;

impl Machine {
    /// Most tokens of a prompt, as the provider counts; none when the window is not known.
    pub(crate) fn most_prompt_tokens(&self) -> Option<u64> {
        let definition = self.plan.definition();
        let profile = self.state.profile.as_ref()?;
        most_prompt_tokens(profile, &definition.context, definition.max_output_tokens)
    }

    /// Tokens of a request by the plain estimate. Costs nothing that grows with the history, unless
    /// there are edits.
    pub(crate) fn plain_tokens(&self, view: &RequestView) -> u64 {
        let messages = edited(self.context(), &view.edits).estimated_tokens();
        messages.saturating_add(self.state.tool_tokens)
    }

    /// Tokens of a request with this plain estimate, as the provider is expected to count.
    pub(crate) fn expected_tokens(&self, plain: u64) -> u64 {
        estimated(self.state.measured, plain)
    }

    /// The greatest plain estimate of a request that is expected to fit.
    pub(crate) fn plain_limit(&self) -> Option<u64> {
        self.most_prompt_tokens().map(|most| plain_within(self.state.measured, most))
    }

    /// What a provider reported of a request.
    pub(crate) fn measure(&mut self, reported: Option<u64>, plain: u64) {
        let window = self.state.profile.as_ref().map_or(0, |it| it.context_window_tokens);
        // What was taken cannot be longer than the window: such a report says something else.
        let reported = reported.filter(|reported| window == 0 || *reported <= window);
        let measured = reported.and_then(|reported| Measured::of(reported, plain));
        self.state.measured = measured.or(self.state.measured);
    }

    /// A prompt was called too long that was expected to fit: it has more than fits.
    pub(crate) fn measure_overlong(&mut self, plain: u64) {
        if let Some(most) = self.most_prompt_tokens()
            && self.expected_tokens(plain) <= most
        {
            self.state.measured = Measured::of(most.saturating_add(1), plain);
        }
    }

    fn context_or_history(&self) -> Context {
        match &self.state.context {
            Some(context) => Context::clone(context),
            None => Context::of(&self.state.history),
        }
    }

    /// Place before which messages of memory providers are put.
    pub(crate) fn front(&self) -> usize {
        match &self.state.context {
            Some(context) => context.front(),
            None => Context::of(&self.state.history).front(),
        }
    }

    fn exchanges(&self, context: &Context) -> Exchanges {
        Exchanges::of(context.messages(), context.head())
    }

    /// Takes a context when the request has fewer tokens with it, and at most `limit`.
    fn take(
        &mut self,
        at: &mut Compaction,
        level: Level,
        (context, rewrite): (Context, Option<Rewrite>),
        limit: u64,
    ) -> bool {
        let before = self.plain_tokens(&at.view);
        let edits = match rewrite {
            Some(rewrite) => rebased(&at.view.edits, &rewrite),
            None => at.view.edits.clone(),
        };
        let old = self.state.context.replace(Box::new(context));
        let old_edits = std::mem::replace(&mut at.view.edits, edits);
        let after = self.plain_tokens(&at.view);
        let is_taken = after < before && after <= limit;
        if is_taken {
            at.levels.push(level);
        } else {
            self.state.context = old;
            at.view.edits = old_edits;
        }
        is_taken
    }

    fn take_stand_ins(&mut self, at: &mut Compaction, level: Level, stand_ins: &[StandIn]) {
        if !stand_ins.is_empty() {
            let context = self.context_or_history().shortened(stand_ins);
            self.take(at, level, (context, None), u64::MAX);
        }
    }

    pub(crate) fn leave_out_results(&mut self, at: &mut Compaction) {
        let policy = &self.plan.definition().context;
        let context = self.context_or_history();
        let end = self.exchanges(&context).newest(policy.protected_exchanges);
        let behind = (context.head(), end);
        let large = policy.large_result_tokens;
        let found = notes(context.messages(), behind, large, |name| self.gives_again(name));
        self.take_stand_ins(at, Level::Micro, &found);
    }

    /// Whether calling a tool again gives what it gave before, as far as that is still true.
    fn gives_again(&self, tool: &str) -> bool {
        self.is_advertised(tool)
            && self.plan.tool(tool).is_some_and(|tool| {
                tool.effect == EffectClass::ReadOnly && tool.kind == ToolKind::Function
            })
    }

    fn is_advertised(&self, tool: &str) -> bool {
        self.state.tools.iter().any(|advertised| advertised.name == tool)
    }

    /// Name of the tool with which the model of this run reads artifacts.
    fn artifact_reader(&self) -> Option<&Arc<str>> {
        let reader = self.plan.definition().context.artifact_reader.as_ref();
        reader.filter(|reader| self.is_advertised(reader))
    }

    /// Places of results that shall become artifacts: large ones before the newest exchange, and
    /// in it those that take half of what the request shall have.
    pub(crate) fn results_to_offload(&self, at: &Compaction) -> Vec<usize> {
        if self.artifact_reader().is_none() {
            return Vec::new();
        }
        let context = self.context_or_history();
        let (messages, newest) = (context.messages(), self.exchanges(&context).newest(1));
        let large = self.plan.definition().context.offload_tokens;
        let mut places = to_offload(messages, (context.head(), newest), large);
        let huge = large.max(at.target / 2);
        places.extend(to_offload(messages, (newest, messages.len()), huge));
        places.truncate(MOST_OFFLOADED);
        places
    }

    /// The text of the result at a place in the context.
    pub(crate) fn result_at(&self, place: usize) -> Option<Arc<str>> {
        text_of_result(self.context().entries_from(place).next()?)
    }

    /// Takes down under which name a result was kept, if it is the right one.
    pub(crate) fn note_artifact(&self, at: &mut Compaction, place: usize, digest: ArtifactDigest) {
        let text = self.result_at(place);
        if text.is_some_and(|text| ArtifactDigest::of(text.as_bytes()) == digest) {
            at.stored.push((place, digest));
        }
    }

    pub(crate) fn put_excerpts(&mut self, at: &mut Compaction) {
        let Some(reader) = self.artifact_reader().cloned() else { return };
        let stored = std::mem::take(&mut at.stored);
        let found: Vec<_> = stored
            .into_iter()
            .filter_map(|(place, digest)| {
                let entry = self.context().entries_from(place).next()?;
                Some((place, excerpt(entry, digest, &reader)?))
            })
            .collect();
        self.take_stand_ins(at, Level::Offload, &found);
    }

    /// What a summary shall cover: as little as brings the request to its target, else all but the
    /// newest exchange, and that one too only when the request would not fit with it; none when
    /// covering cannot help.
    pub(crate) fn cut_for_summary(&self, at: &Compaction) -> Option<Cut> {
        let context = self.context_or_history();
        let exchanges = self.exchanges(&context);
        let (beside, frame) = (self.beside(&context, at), self.frame_tokens(&context));
        let words = u64::from(self.plan.definition().context.summary_output_tokens);
        let words = words.min(at.target / 4);
        let room = |most: u64| most.saturating_sub(beside).saturating_sub(frame + words);
        let limit = self.plain_limit().unwrap_or(u64::MAX);
        let fits = |cut: &Cut| cut.said_tokens.saturating_add(cut.tail_tokens) <= room(limit);
        let spares_newest = at.cause == Cause::Threshold && self.plain_tokens(&at.view) <= limit;
        let cut = exchanges
            .fitting(room(at.target))
            .or_else(|| exchanges.keeping(1).filter(fits))
            .or_else(|| exchanges.keeping(0).filter(|_| !spares_newest))?;
        let now = context.messages().estimated_tokens();
        let then = context.head_tokens() + cut.said_tokens + cut.tail_tokens + frame;
        (then < now).then_some(cut)
    }

    /// Tokens of a request that no cut changes: what stays of the head, edits, and tools.
    fn beside(&self, context: &Context, at: &Compaction) -> u64 {
        let all = self.plain_tokens(&at.view);
        let edits_and_tools = all.saturating_sub(context.messages().estimated_tokens());
        context.head_tokens().saturating_add(edits_and_tools)
    }

    /// Tokens of a message that sums up, without its words.
    fn frame_tokens(&self, context: &Context) -> u64 {
        let message = message(Some(""), context.messages().len(), &self.live_state());
        runtime_ports::TranscriptEntry::new(message).estimated_tokens()
    }

    /// The request for the summary of what is before a cut; none when it cannot fit.
    pub(crate) fn summary_request(&self, at: &Compaction, id: u64) -> Option<ModelRequest> {
        let definition = self.plan.definition();
        let context = self.context_or_history();
        let so_far = context.so_far().map(|text| &**text);
        let messages = request(so_far, &context.between(at.cut?), self.summary_room(at))?;
        let options = GenerationOptions {
            reasoning_effort: definition.options.reasoning_effort.clone(),
            ..GenerationOptions::default()
        };
        let model = definition.context.summary_model.as_ref().unwrap_or(&definition.model);
        Some(ModelRequest {
            invocation_id: self.id_text(id),
            model: Arc::clone(model),
            messages,
            tools: ToolSet::default(),
            max_output_tokens: Some(self.summary_output_tokens()),
            options: Arc::new(options),
        })
    }

    /// Whether a summary can be asked for: what must be in the request leaves room for more.
    pub(crate) fn may_sum_up(&self, at: &Compaction) -> bool {
        let so_far = self.state.context.as_ref().and_then(|context| context.so_far());
        at.cut.is_some()
            && room_for_messages(so_far.map(|text| &**text), self.summary_room(at)).is_some()
    }

    /// Most tokens of a request for a summary, by the plain estimate.
    fn summary_room(&self, at: &Compaction) -> u64 {
        let unknown = || match at.cause {
            Cause::Overlong => at.target,
            _ => self.context().estimated_tokens(),
        };
        let chosen = self.plan.definition().context.summary_prompt_tokens;
        chosen.or_else(|| self.plain_limit()).unwrap_or_else(unknown) >> at.halvings
    }

    fn summary_output_tokens(&self) -> u32 {
        let wanted = self.plan.definition().context.summary_output_tokens;
        let profile = self.state.profile.as_ref();
        let most = profile.and_then(|profile| profile.max_output_tokens).unwrap_or(u64::MAX);
        let granted = self.granted_tokens(Spending::Summary).unwrap_or(u32::MAX);
        u32::try_from(most).unwrap_or(u32::MAX).min(wanted).min(granted).max(1)
    }

    /// Takes a summary; says why not when it does not.
    pub(crate) fn take_summary(
        &mut self,
        at: &mut Compaction,
        response: &ModelResponse,
    ) -> Result<(), &'static str> {
        let cut = at.cut.take().ok_or("nothing was to be covered")?;
        let text = text_of_answer(response).ok_or("it was empty or not complete")?;
        let limit = self.plain_limit().unwrap_or(u64::MAX);
        match self.cover(at, Level::Summary, (cut, Some(text)), limit) {
            true => Ok(()),
            false => Err("it did not make the request fit"),
        }
    }

    fn cover(
        &mut self,
        at: &mut Compaction,
        level: Level,
        (cut, text): (Cut, Option<Arc<str>>),
        limit: u64,
    ) -> bool {
        let context = self.context_or_history();
        let covered = context.covered_by(cut);
        let message = message(text.as_deref(), covered, &self.live_state());
        let (context, rewrite) =
            context.covering(cut, Summary { text }, message, &self.state.history);
        self.take(at, level, (context, Some(rewrite)), limit)
    }

    /// Leaves out the older part without asking anybody, cuts results, and in the end leaves out
    /// everything but what users said. An earlier summary stays.
    pub(crate) fn trim(&mut self, at: &mut Compaction) {
        for kept in [1, 0] {
            let context = self.context_or_history();
            let exchanges = self.exchanges(&context);
            let room = at.target.saturating_sub(self.beside(&context, at));
            let frame = self.frame_tokens(&context)
                + context.so_far().map_or(0, |text| estimate_text_tokens(text));
            let cut = exchanges.fitting(room.saturating_sub(frame));
            if let Some(cut) = cut.or_else(|| exchanges.keeping(kept)) {
                let text = context.so_far().cloned();
                self.cover(at, Level::Trim, (cut, text), u64::MAX);
            }
            if self.plain_tokens(&at.view) > at.target && kept > 0 {
                self.squeeze(at);
            }
            if self.plain_tokens(&at.view) <= at.target {
                break;
            }
        }
        at.levels.dedup();
    }

    fn squeeze(&mut self, at: &mut Compaction) {
        let context = self.context_or_history();
        let all = self.plain_tokens(&at.view);
        let head = context.messages().prefix(context.head()).estimated_tokens();
        let behind = context.messages().estimated_tokens() - head;
        let room = at.target.saturating_sub(all.saturating_sub(behind));
        let found = squeezed(context.messages(), context.head(), room);
        self.take_stand_ins(at, Level::Trim, &found);
    }

    /// Whether what is open can be asked for again, as far as a compaction goes on.
    pub(crate) fn compacts_soundly(&self) -> bool {
        let Phase::Compacting(at) = self.present() else { return true };
        let mut open = self.state.open.iter();
        at.halvings <= MOST_HALVINGS
            && open.all(|open| match open.ask {
                Ask::Offload { message } => self.result_at(message).is_some(),
                Ask::Summary | Ask::Reserve { .. } => self.asks_soundly(at),
                _ => true,
            })
    }

    fn asks_soundly(&self, at: &Compaction) -> bool {
        let context = self.context_or_history();
        let is_cut = at.cut.is_some_and(|cut| self.exchanges(&context).holds(cut));
        is_cut && self.may_sum_up(at)
    }

    /// To how many tokens, by the plain estimate, a request shall be brought.
    pub(crate) fn target(&self, cause: Cause, view: &RequestView) -> u64 {
        let policy = &self.plan.definition().context;
        let percent = policy.target_percent.min(policy.threshold_percent);
        let of_window = self
            .most_prompt_tokens()
            .map(|most| plain_within(self.state.measured, part(most, percent)));
        let own = match cause {
            Cause::Threshold => None,
            Cause::Asked => Some(part(self.plain_tokens(view), percent)),
            Cause::Overlong => Some(part(view.sent_tokens, percent)),
        };
        of_window.into_iter().chain(own).min().unwrap_or_default()
    }
}
