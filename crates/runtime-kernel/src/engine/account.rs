//! Decides nothing: keeps what the runs below a run have used, as long as their ends are not told.
//!
//! Knows amounts, and which effect of the run started whom; refuses to know how they run. Invariants:
//! what is told of a run below is told once; of one that is dropped, what was in flight is told as it
//! was reserved.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_decision::{EffectId, Spent};

/// What one run and those below it used.
#[derive(Default)]
pub(super) struct Account(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// What had been used when this life of the run began: whoever is above was told.
    before: Spent,
    /// By the run and the ended runs below it.
    own: Spent,
    /// Number of the last run below.
    last: u64,
    /// The runs below whose ends are not told, with the effects that started them.
    below: BTreeMap<u64, (EffectId, Arc<Account>)>,
}

impl Account {
    /// Of a run that used so much in earlier lives.
    pub(super) fn after(before: Spent) -> Self {
        Self(Mutex::new(Kept { own: before.clone(), before, ..Kept::default() }))
    }

    /// Notes what the run used so far.
    pub(super) fn note(&self, spent: Spent) {
        self.kept().own = spent;
    }

    /// Notes that an effect started a run.
    pub(super) fn add(&self, effect: EffectId, below: Arc<Self>) {
        let mut kept = self.kept();
        kept.last += 1;
        let number = kept.last;
        kept.below.insert(number, (effect, below));
    }

    /// What the runs that an effect started used, which is forgotten here.
    pub(super) fn take(&self, effect: EffectId) -> Spent {
        let mut kept = self.kept();
        let mut spent = Spent::default();
        kept.below.retain(|_, (by, below)| {
            let is_other = *by != effect;
            if !is_other {
                spent.add(&below.total());
            }
            is_other
        });
        spent
    }

    /// What was used in this life of the run, by it and by all below. Locks go downwards only.
    fn total(&self) -> Spent {
        let kept = self.kept();
        let mut spent = kept.own.clone().since(&kept.before);
        kept.below.values().for_each(|(_, below)| spent.add(&below.total()));
        spent
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Arithmetic leaves no half-made change behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Account").finish_non_exhaustive()
    }
}
