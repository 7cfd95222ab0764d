//! The gate that makes a verdict of what happens to calls that a person would have to be asked about.
//!
//! It never takes back what another gate says: a denial stays one, and a question of another gate is asked, whatever the
//! mode of the tool.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::hooks::{Gated, Point};
use mica_agent::{Approval, Context, Hooks, ToolSpec, Verdict};

use super::{ApprovalMode, Asked, Judge};
use crate::capture::{Book, Fate};
use crate::rights::Rights;

/// Judges calls by the mode of their tools.
///
/// | a person would be asked | mode | verdict |
/// |---|---|---|
/// | no | | as the others say; denied when a right is missing |
/// | yes | pause | ask |
/// | yes | capture | let through to where it is captured; denied when nothing captures it |
/// | yes | auto | allow; ask when a right is missing |
pub struct AutonomyGate {
    judge: Arc<Judge>,
    rights: Rights,
    book: Option<Arc<Book>>,
}

impl AutonomyGate {
    /// For a run that has these rights.
    pub fn new(judge: Arc<Judge>, rights: Rights) -> Self {
        Self { judge, rights, book: None }
    }

    /// With the book that captured calls come into: the one that the tools were wrapped with.
    #[must_use]
    pub fn capturing(mut self, book: Arc<Book>) -> Self {
        self.book = Some(book);
        self
    }

    /// The right that a call needs and the run does not have.
    fn missing(&self, tool: &str) -> Option<&str> {
        let needs = self.judge.act(tool)?.needs.as_deref()?;
        (!self.rights.allow(needs)).then_some(needs)
    }

    fn verdict(&self, gated: &Gated<'_>) -> Verdict {
        let (spec, missing) = (gated.spec, self.missing(&gated.spec.name));
        let asked = self.judge.asked(spec, &gated.args);
        let captured = |book: &&Arc<Book>| {
            book.covers(&spec.name) && Fate::of(&self.judge, book, spec, &gated.args) != Fate::Made
        };
        if self.book.as_ref().filter(captured).is_some() {
            // It is not made: whoever decides about it later needs the right, not whoever proposes it.
            return Verdict::Allow;
        }
        let Asked::Yes { reason } = asked else {
            return match missing {
                Some(right) => denied(spec, right),
                // The arguments say that nobody is asked, whatever the specification says.
                None if spec.approval == Approval::Needed => Verdict::Allow,
                None => Verdict::Pass,
            };
        };
        match (self.judge.mode(&spec.name), missing) {
            (ApprovalMode::Auto, None) => Verdict::Allow,
            (ApprovalMode::Auto, Some(right)) => {
                asking(format!("{} needs the right {right}, which this run does not have", spec.label))
            }
            (ApprovalMode::Capture, _) => Verdict::Deny {
                reason: format!(
                    "{} needs a person's approval, and nothing here can keep it for them. Nothing was done. Go on without \
                     it, and say at the end what is left.",
                    spec.name
                ),
                rule: None,
            },
            (ApprovalMode::Pause, _) => match reason {
                Some(reason) => asking(reason),
                // By its own word the tool asks; whoever remembers approvals may have an opinion.
                None if spec.approval == Approval::Needed => Verdict::Pass,
                None => asking(format!("{} asks before it runs with these arguments", spec.label)),
            },
        }
    }
}

fn asking(reason: String) -> Verdict {
    Verdict::Ask { reason, rule: None, proposals: Vec::new() }
}

fn denied(spec: &ToolSpec, right: &str) -> Verdict {
    Verdict::Deny {
        reason: format!(
            "{} needs the right {right}, which this run does not have. Nothing was done. Say what you would do, so that \
             somebody who may can do it.",
            spec.name
        ),
        rule: None,
    }
}

#[async_trait]
impl Hooks for AutonomyGate {
    fn says(&self, at: Point) -> bool {
        at == Point::Gate
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        self.verdict(gated)
    }
}
