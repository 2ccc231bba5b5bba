//! Decides what one tool call of a chat stream has become, and how a fragment stands to it.
//!
//! Knows nothing about other calls.

use model_wire::arguments::Balance;
use serde_json::Value;

use super::fragment::Fragment;

/// Longest id that callers are given, in bytes. Gateways put signatures into ids, so that they may
/// be long; a longer one is nobody's id.
const LONGEST_ID: usize = 16 * 1024;

/// One call while it is assembled.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) index: Option<u64>,
    pub(super) wire_id: Option<String>,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) extra: Option<Value>,
    /// The id that the sink was told.
    pub(super) announced: Option<String>,
    /// The frame that began it: two elements of one frame are two calls.
    pub(super) frame: u64,
    /// Another index under which its tail came.
    pub(super) adopted: Option<u64>,
    /// Other indices under which its head was sent again.
    pub(super) heads: Vec<u64>,
    /// Whether it was told another name, which is no longer form of the first.
    pub(super) is_renamed: bool,
    /// Whether more arguments came, without an id or a name, when they were whole already.
    pub(super) is_mixed: bool,
    /// Whether it was but the head of the call behind it.
    pub(super) is_joined: bool,
    /// Whether its arguments are known to be no JSON.
    is_text: bool,
    balance: Balance,
}

impl Call {
    /// A call that `fragment` begins; nothing of the fragment is taken yet.
    pub(super) fn begun_by(fragment: &Fragment, frame: u64) -> Self {
        let (index, wire_id) = (fragment.index, fragment.id.clone());
        Self { index, wire_id, frame, ..Self::default() }
    }

    /// Takes a fragment.
    pub(super) fn absorb(&mut self, fragment: &Fragment) {
        self.index = self.index.or(fragment.index);
        self.wire_id = self.wire_id.take().or_else(|| fragment.id.clone());
        self.extra = fragment.extra.clone().or_else(|| self.extra.take());
        self.notice_mixture(fragment);
        if let Some(name) = &fragment.name {
            self.absorb_name(name, fragment.id.is_some());
        }
        self.arguments.push_str(&fragment.arguments);
        self.balance.feed(&fragment.arguments);
    }

    /// Arguments that follow whole ones, without an id or a name, may be another call's. Text that
    /// is no JSON is never whole, and looked at once.
    fn notice_mixture(&mut self, fragment: &Fragment) {
        let is_anonymous = fragment.id.is_none() && fragment.name.is_none();
        let is_late = is_anonymous && self.is_filled() && fragment.has_arguments();
        if is_late && !self.is_mixed && !self.is_text {
            self.is_mixed = value(&self.arguments).is_some();
            self.is_text = !self.is_mixed;
        }
    }

    /// Most servers repeat the name or leave it out; some cut it in pieces.
    fn absorb_name(&mut self, name: &str, with_id: bool) {
        let is_longer = name.starts_with(&self.name);
        if !with_id && self.arguments.is_empty() && !is_longer {
            self.name.push_str(name);
            return;
        }
        self.is_renamed |= !is_longer || (self.announced.is_some() && *name != self.name);
        if self.announced.is_none() {
            name.clone_into(&mut self.name);
        }
    }

    /// Whether the arguments of `fragment` belong to another call of the same name and id, whose head
    /// was taken for this one's: they come where that head was, and this call is whole.
    pub(super) fn has_twin_at(&self, fragment: &Fragment) -> bool {
        let is_there = fragment.index.is_some_and(|index| self.heads.contains(&index));
        is_there && self.is_whole() && fragment.has_arguments() && !fragment.is_rest()
    }

    /// Takes what is missing from the same call of a whole message; `false` when that one says
    /// something else.
    pub(super) fn complete(&mut self, listed: &Fragment) -> bool {
        if self.name.is_empty() {
            self.name = listed.name.clone().unwrap_or_default();
        }
        self.wire_id = self.wire_id.take().or_else(|| listed.id.clone());
        self.extra = self.extra.take().or_else(|| listed.extra.clone());
        let is_placeholder = matches!(listed.arguments.trim(), "" | "{}" | "null");
        if (is_placeholder && !self.is_blank()) || !self.shares_name(listed) {
            return self.shares_name(listed);
        }
        if self.is_filled() {
            return value(&self.arguments) == value(&listed.arguments);
        }
        listed.arguments.clone_into(&mut self.arguments);
        self.balance = Balance::default();
        self.balance.feed(&listed.arguments);
        true
    }

    /// Whether `fragment`, though it was led here, begins another call: this one has a name and
    /// whole arguments that are no placeholder, and the fragment has a name and arguments that are
    /// not the same again.
    pub(super) fn is_followed_by(&self, fragment: &Fragment) -> bool {
        let Some(name) = &fragment.name else { return false };
        let complete = !self.name.is_empty() && self.is_whole();
        if *name != self.name {
            return complete;
        }
        let (held, fresh) = (self.arguments.trim(), fragment.arguments.trim());
        complete && held != "{}" && !fresh.is_empty() && fresh != held
    }

    /// Whether it has whole arguments and the fragment, without a name, has others.
    pub(super) fn is_told_otherwise(&self, fragment: &Fragment) -> bool {
        let (held, fresh) = (self.arguments.trim(), fragment.arguments.trim());
        fragment.name.is_none() && self.is_filled() && !fresh.is_empty() && fresh != held
    }

    /// Whether both can have one name.
    pub(super) fn shares_name(&self, fragment: &Fragment) -> bool {
        let names = fragment.name.as_ref().filter(|_| !self.name.is_empty());
        names.is_none_or(|name| *name == self.name)
    }

    /// Whether both have an index, and different ones.
    pub(super) fn is_at_another_index(&self, fragment: &Fragment) -> bool {
        self.index.zip(fragment.index).is_some_and(|(held, fresh)| held != fresh)
    }

    /// Whether everything that was opened in its arguments is closed.
    pub(super) const fn is_whole(&self) -> bool {
        self.balance.is_whole()
    }

    /// Whether it has no arguments so far.
    pub(super) fn is_blank(&self) -> bool {
        self.arguments.trim().is_empty()
    }

    /// Whether it is a name that no arguments followed.
    pub(super) fn is_lone_head(&self) -> bool {
        !self.name.is_empty() && self.is_blank()
    }

    /// Whether its arguments have begun and are not whole.
    pub(super) fn is_begun(&self) -> bool {
        !self.is_blank() && !self.is_whole()
    }

    /// Whether its arguments are whole and say something.
    fn is_filled(&self) -> bool {
        self.is_whole() && !matches!(self.arguments.trim(), "{}" | "null")
    }

    /// Whether `fragment` is the same call, whole, again.
    pub(super) fn says_the_same(&self, fragment: &Fragment) -> bool {
        let fresh = value(&fragment.arguments);
        fragment.name.as_ref() == Some(&self.name)
            && fresh.is_some()
            && fresh == value(&self.arguments)
    }

    /// Whether the same call was begun before: under the same id, or under none at one place and in
    /// an earlier frame.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        let same_place = self.index == other.index && self.frame != other.frame;
        let same_place = self.wire_id.is_some() || same_place;
        self.name == other.name && self.wire_id == other.wire_id && same_place
    }

    /// The server's id, when callers can be given it.
    pub(super) fn usable_id(&self) -> Option<&String> {
        self.wire_id.as_ref().filter(|id| id.len() <= LONGEST_ID)
    }
}

fn value(arguments: &str) -> Option<Value> {
    serde_json::from_str(arguments).ok()
}
