//! Decides what a person is told at the end of the work.
//!
//! Knows ends. Refuses to know what led to them.

use runtime_kernel::engine::{CancelReport, Event, RunEvent};

use super::{BAD, DIM, MESSAGE_SHOWN, PLAIN, Person, REMARK_SHOWN};
use crate::{
    budget_left::BudgetLeft, diagnosis::Diagnosis, exit::Exit, safe_text::safe_line,
    show::receipt::totals_line, told::Closing, totals::RunTotals,
};

impl Person {
    pub(super) fn last(&self, event: &RunEvent, closing: &Closing) {
        match &event.event {
            Event::RunCompleted { final_answer } => {
                self.answer(closing.answer.as_deref().unwrap_or(final_answer));
            }
            _ => self.remark(),
        }
        if let Some(asked) = &closing.asked {
            self.answer(asked);
        }
        closing.returned.iter().for_each(|said| self.returned(said));
        closing.cancelled.iter().for_each(|report| self.found(report));
        self.totals(&closing.totals);
        let left = closing.left.as_ref().and_then(BudgetLeft::line);
        left.iter().for_each(|line| self.line(DIM, line));
        match &closing.diagnosis {
            Some(diagnosis) => self.failure(diagnosis),
            None if closing.exit == Exit::Cancelled => self.line(BAD, "agent: cancelled"),
            None => {}
        }
    }

    fn returned(&self, said: &str) {
        let said = safe_line(said, REMARK_SHOWN);
        self.line(BAD, &format!("steering not applied, the run had ended: {said}"));
    }

    fn found(&self, report: &CancelReport) {
        let kinds = [
            ("settled", &report.settled),
            ("may have taken effect", &report.unknown),
            ("still running", &report.still_running),
        ];
        for (word, names) in kinds {
            for name in names {
                self.line(DIM, &format!("{word}: {}", safe_line(name, MESSAGE_SHOWN)));
            }
        }
    }

    fn totals(&self, totals: &RunTotals) {
        if totals.turns > 0 {
            let elapsed = u64::try_from(self.started().elapsed().as_millis()).unwrap_or(u64::MAX);
            self.line(DIM, &totals_line(totals, elapsed));
        }
    }

    fn failure(&self, diagnosis: &Diagnosis) {
        let code = match diagnosis.code.as_str() {
            "configuration" => String::new(),
            code => format!(" ({})", safe_line(code, 80)),
        };
        let message = safe_line(&diagnosis.message, MESSAGE_SHOWN);
        self.line(BAD, &format!("agent: {message}{code}"));
        if let Some(hint) = &diagnosis.hint {
            self.line(PLAIN, &format!("       {}", safe_line(hint, MESSAGE_SHOWN)));
        }
    }
}
