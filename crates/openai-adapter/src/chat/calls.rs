//! Decides which tool call a fragment of a chat stream belongs to, and what becomes of all calls.
//!
//! Knows nothing about the rest of the stream. Invariant: ids decide before indices, and indices
//! before nearness; no call is listed twice because it was sent twice; where a fragment could
//! belong to either of two calls, none of the answer's calls is listed.

use model_wire::arguments::Arguments;
use runtime_ports::{DeltaSink, ModelContent, ModelDelta};
use serde_json::Value;

use super::{call::Call, fragment::Fragment};

/// Most calls that one answer may have.
const MOST_CALLS: usize = 512;

/// The answer has more calls than anybody can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooManyCalls;

/// The calls of one answer, in the order in which they began.
#[derive(Debug)]
pub(super) struct Calls {
    calls: Vec<Call>,
    seed: String,
    frame: u64,
    /// Whether a fragment could have belonged to either of two calls.
    doubtful: bool,
    /// Whether a call went on under another id: then an id says little.
    ids_change: bool,
}

/// What became of the calls.
#[derive(Debug, PartialEq)]
pub(super) enum Assembled {
    /// Every call is whole: the call, and what its issuer needs back beside it.
    Whole(Vec<(ModelContent, Option<Value>)>),
    /// One of them ends early, or nobody knows which is which.
    Cut,
}

/// Where a frame stands in its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// Anywhere.
    Plain,
    /// It says that the answer is finished: servers repeat calls in it.
    Finishing,
}

impl Calls {
    /// No calls yet. Ids that the server does not give are derived from `seed`.
    pub(super) fn new(seed: &str) -> Self {
        Self {
            calls: Vec::new(),
            seed: seed.to_owned(),
            frame: 0,
            doubtful: false,
            ids_change: false,
        }
    }

    /// Whether no call began.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes the fragments of one frame.
    pub(super) fn take(
        &mut self,
        fragments: Vec<Fragment>,
        frame: Frame,
        sink: &dyn DeltaSink,
    ) -> Result<(), TooManyCalls> {
        self.frame += 1;
        for fragment in fragments.into_iter().filter(|fragment| !fragment.is_empty()) {
            if frame == Frame::Finishing && self.was_sent_before(&fragment) {
                continue;
            }
            let at = self.route(&fragment).unwrap_or_else(|| self.open(&fragment));
            if at >= MOST_CALLS {
                return Err(TooManyCalls);
            }
            self.calls[at].absorb(&fragment);
            self.announce(at, &fragment.arguments, sink);
        }
        Ok(())
    }

    /// Takes the calls of a whole message that stands beside deltas, or behind them: it completes
    /// what they left out, and repeats nothing.
    pub(super) fn complete(
        &mut self,
        listed: Vec<Fragment>,
        sink: &dyn DeltaSink,
    ) -> Result<(), TooManyCalls> {
        self.frame += 1;
        let listed: Vec<Fragment> = listed.into_iter().filter(|call| !call.is_empty()).collect();
        let pairs = self.paired(&listed);
        // No more are listed than are known: one that is none of them contradicts them.
        self.doubtful |= listed.len() <= self.calls.len() && pairs.contains(&None);
        for (fragment, found) in listed.into_iter().zip(pairs) {
            let at = found.unwrap_or_else(|| self.open(&fragment));
            if at >= MOST_CALLS {
                return Err(TooManyCalls);
            }
            self.doubtful |= !self.calls[at].complete(&fragment);
            self.announce(at, "", sink);
        }
        Ok(())
    }

    /// For each of the `listed` calls the one that it is, if it is known: by its id, by what it says,
    /// then by its place. None is paired twice.
    fn paired(&self, listed: &[Fragment]) -> Vec<Option<usize>> {
        let mut pairs = vec![None; listed.len()];
        let passes: [fn(&Call, &Fragment, bool) -> bool; 3] = [
            |call, fragment, _| fragment.id.is_some() && call.wire_id == fragment.id,
            |call, fragment, _| call.says_the_same(fragment),
            |call, fragment, is_here| is_here && call.shares_name(fragment),
        ];
        for is_pair in passes {
            for (position, fragment) in listed.iter().enumerate() {
                if pairs[position].is_none() {
                    let fits = |(at, call): (usize, &Call)| {
                        is_pair(call, fragment, at == position) && !pairs.contains(&Some(at))
                    };
                    pairs[position] = self.calls.iter().enumerate().position(fits);
                }
            }
        }
        pairs
    }

    /// Whether the call is sent whole again, under another id, in the frame that finishes.
    fn was_sent_before(&self, fragment: &Fragment) -> bool {
        let is_new_id = !self.calls.iter().any(|call| call.wire_id == fragment.id);
        let again = |call: &Call| {
            call.frame < self.frame && call.index == fragment.index && call.says_the_same(fragment)
        };
        fragment.id.is_some()
            && fragment.index.is_some()
            && is_new_id
            && self.calls.iter().any(again)
    }

    fn route(&mut self, fragment: &Fragment) -> Option<usize> {
        match (&fragment.id, fragment.index) {
            (Some(id), _) => self.by_id(id, fragment),
            (None, Some(index)) => self.by_index(index, fragment),
            (None, None) => self.by_nearness(fragment),
        }
    }

    fn by_id(&mut self, id: &str, fragment: &Fragment) -> Option<usize> {
        let same = |call: &Call| call.wire_id.as_deref() == Some(id);
        let here = |call: &Call| same(call) && !call.is_at_another_index(fragment);
        let found = self.calls.iter().rposition(here);
        if let Some(at) = found.or_else(|| self.calls.iter().rposition(same)) {
            return self.within_id(at, fragment);
        }
        // The id may come after the head of its call, or change in the middle of it.
        let at = self.calls.iter().rposition(|call| call.index == fragment.index)?;
        let call = &self.calls[at];
        let is_late = call.wire_id.is_none() && !call.is_followed_by(fragment);
        let is_changed = call.is_begun() && fragment.is_rest();
        let fits = call.shares_name(fragment) && !call.is_told_otherwise(fragment);
        self.ids_change |= fits && is_changed && !is_late;
        (fits && (is_late || is_changed)).then_some(at)
    }

    /// One id may be several calls': of other tools at other indices, or whole and followed.
    fn within_id(&mut self, at: usize, fragment: &Fragment) -> Option<usize> {
        let call = &mut self.calls[at];
        let (moved, renamed) = (call.is_at_another_index(fragment), !call.shares_name(fragment));
        let is_other = (moved && renamed) || call.has_twin_at(fragment);
        if is_other || ((moved || renamed) && call.is_followed_by(fragment)) {
            let is_named = fragment.name.is_some();
            return if is_named { None } else { self.twin(at, fragment) };
        }
        if moved && fragment.name.is_some() {
            call.heads.extend(fragment.index);
        }
        Some(at)
    }

    /// Begins a call of the name and id of the one at `at`, for arguments that say neither.
    fn twin(&mut self, at: usize, fragment: &Fragment) -> Option<usize> {
        let (name, wire_id) = (self.calls[at].name.clone(), self.calls[at].wire_id.clone());
        let twin = self.open(fragment);
        (self.calls[twin].name, self.calls[twin].wire_id) = (name, wire_id);
        Some(twin)
    }

    fn by_index(&mut self, index: u64, fragment: &Fragment) -> Option<usize> {
        let same = |call: &Call| call.index == Some(index);
        if let Some(at) = self.calls.iter().rposition(same) {
            let blank = self.calls.iter().filter(|call| same(call) && call.is_blank()).count();
            let is_tail = fragment.name.is_none() && fragment.has_arguments();
            self.doubtful |= is_tail && blank > 1;
            let call = &self.calls[at];
            let sibling = call.frame == self.frame && !call.shares_name(fragment);
            return (!sibling && !call.is_followed_by(fragment)).then_some(at);
        }
        if let Some(at) = self.calls.iter().rposition(|call| call.has_twin_at(fragment)) {
            return self.twin(at, fragment);
        }
        let at = self.by_unseen_index(index, fragment)?;
        self.calls[at].adopted = Some(index);
        Some(at)
    }

    /// Head and tail under different indices: the tail belongs to the call that lacks one.
    fn by_unseen_index(&mut self, index: u64, fragment: &Fragment) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        let adopted = |call: &Call| call.adopted == Some(index);
        if fragment.name.is_some() {
            // What was taken for a tail was the beginning of this call.
            self.doubtful |=
                self.calls.iter().any(|call| adopted(call) && !call.shares_name(fragment));
            let call = &self.calls[last];
            let repeats_its_head = call.wire_id.is_some() && call.shares_name(fragment);
            let lacks_it = call.name.is_empty() || (repeats_its_head && !call.is_whole());
            return lacks_it.then_some(last);
        }
        if !self.calls[last].is_whole() {
            return Some(last);
        }
        if let Some(begun) = self.calls.iter().rposition(Call::is_begun) {
            return Some(begun);
        }
        self.doubtful |= fragment.has_arguments() && self.calls.iter().any(Call::is_blank);
        (!fragment.has_arguments() || fragment.is_rest()).then_some(last)
    }

    fn by_nearness(&self, fragment: &Fragment) -> Option<usize> {
        let at = self.calls.len().checked_sub(1)?;
        let call = &self.calls[at];
        let sibling = call.frame == self.frame && fragment.name.is_some();
        (!sibling && !call.is_followed_by(fragment)).then_some(at)
    }

    fn open(&mut self, fragment: &Fragment) -> usize {
        self.calls.push(Call::begun_by(fragment, self.frame));
        self.calls.len() - 1
    }

    /// Tells the sink about a call once its name is known. A name may come in pieces, so it counts
    /// as known when arguments follow.
    fn announce(&mut self, at: usize, fresh: &str, sink: &dyn DeltaSink) {
        let index = position(at);
        if self.calls[at].announced.is_some() {
            if !fresh.is_empty() {
                sink.delta(ModelDelta::ToolArguments { index, fragment: fresh });
            }
            return;
        }
        if self.calls[at].name.is_empty() || self.calls[at].arguments.is_empty() {
            return;
        }
        let id = self.id_of(at);
        let call = &mut self.calls[at];
        sink.delta(ModelDelta::ToolCall { index, id: &id, name: &call.name });
        sink.delta(ModelDelta::ToolArguments { index, fragment: &call.arguments });
        call.announced = Some(id);
    }

    /// The id that callers see: the server's, unless it has none or gave it to an earlier call.
    fn id_of(&self, at: usize) -> String {
        let call = &self.calls[at];
        if let Some(announced) = &call.announced {
            return announced.clone();
        }
        let (earlier, minted) = (&self.calls[..at], model_wire::minted(&self.seed, at));
        let is_taken = |id: &&String| {
            let is_minted = || (0..at).any(|at| model_wire::minted(&self.seed, at) == **id);
            earlier.iter().any(|call| call.wire_id.as_ref() == Some(id))
                || (id.len() == minted.len() && is_minted())
        };
        let given = call.usable_id().filter(|id| !is_taken(id));
        given.cloned().unwrap_or(minted)
    }

    /// Where ids change from fragment to fragment, a call without arguments was the head of the
    /// next one at its index, unless that one has another name.
    fn join_heads(&mut self, sink: &dyn DeltaSink) {
        for at in 1..self.calls.len() {
            let (head, tail) = (&self.calls[at - 1], &self.calls[at]);
            let fits = tail.name.is_empty() || tail.name == head.name;
            if head.is_lone_head() && head.index == tail.index && fits {
                let name = head.name.clone();
                self.calls[at - 1].is_joined = true;
                self.calls[at].name = name;
                self.announce(at, "", sink);
            }
        }
    }

    /// Ends the assembly.
    pub(super) fn assemble(&mut self, sink: &dyn DeltaSink) -> Assembled {
        if self.doubtful || self.calls.iter().any(|call| call.is_renamed) {
            return Assembled::Cut;
        }
        if self.ids_change {
            self.join_heads(sink);
        }
        let mut kept: Vec<(usize, Value, Option<Value>)> = Vec::new();
        for (at, call) in self.calls.iter().enumerate().filter(|(_, call)| !call.is_joined) {
            let value = match Arguments::read(&call.arguments) {
                Arguments::Whole(Value::String(_)) if call.is_mixed => return Assembled::Cut,
                Arguments::Whole(value) if !call.name.is_empty() => value,
                _ => return Assembled::Cut,
            };
            let is_again = |(other, held, _): &&mut (usize, Value, Option<Value>)| {
                call.repeats(&self.calls[*other]) && *held == value
            };
            match kept.iter_mut().find(is_again) {
                Some((_, _, extra)) => *extra = extra.take().or_else(|| call.extra.clone()),
                None => kept.push((at, value, call.extra.clone())),
            }
        }
        let listed = kept
            .into_iter()
            .map(|(at, value, extra)| (self.listed(at, value, sink), extra))
            .collect();
        Assembled::Whole(listed)
    }

    fn listed(&self, at: usize, arguments: Value, sink: &dyn DeltaSink) -> ModelContent {
        let (id, call) = (self.id_of(at), &self.calls[at]);
        if call.announced.is_none() {
            sink.delta(ModelDelta::ToolCall { index: position(at), id: &id, name: &call.name });
        }
        ModelContent::ToolUse { id, name: call.name.clone(), arguments }
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
