//! Extensions among the hooks of a run.

use std::time::Duration;

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Point, Record};
use mica_agent::{Args, Context, Hooks, ToolError, ToolOutput, ToolSpec, Verdict};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Message};
use mica_context::tokens;
use mica_policy::validate::Schema;

use super::{Extensions, One, Origin, Says, lock};
use crate::concern::{Guard, Guarded, Moment, Resulted};

/// Changed calls that are remembered. A batch has fewer.
const CHANGED: usize = 64;

/// What hooks have besides what extensions take: those that are no extensions.
const OTHERS: Duration = Duration::from_secs(30);

#[async_trait]
impl Hooks for Extensions {
    fn says(&self, at: Point) -> bool {
        match at {
            Point::Gate => self.is_said(Says::JUDGES),
            Point::AfterCall => self.is_said(Says::REVIEWS),
            Point::Transform => self.is_said(Says::WINDOW),
            Point::Record => self.is_said(Says::MESSAGES),
            _ => false,
        }
    }

    fn deadline(&self) -> Duration {
        if !self.is_said(Says::JUDGES | Says::REVIEWS) {
            return OTHERS;
        }
        let loaded = self.loaded();
        // Each guard may take its own time, and be asked twice when another changes arguments.
        let usual = self.inner.deadlines.guard;
        let all: Duration = loaded.guards.iter().map(|guard| guard.of.deadline.unwrap_or(usual)).sum();
        // What was said may have to be told before.
        let moment = self.inner.deadlines.moment;
        let told: Duration = loaded.lifecycles.iter().map(|one| one.of.deadline.unwrap_or(moment)).sum();
        OTHERS + 2 * (all + told)
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        // Whoever judges calls has heard the words around them.
        self.tell_said().await;
        let loaded = self.loaded();
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(loaded.guards.len());
        let mut outdated = None;
        // Asked again for what it was changed to: a guard that always adds something would add it twice.
        let is_made = lock(&self.inner.changed)
            .iter()
            .any(|(call, made)| *call == gated.call.id && *made == gated.args);
        for (index, guard) in loaded.guards.iter().enumerate() {
            let (verdict, change) = self.judged(guard, gated).await;
            if matches!(verdict, Verdict::Deny { .. }) {
                return verdict;
            }
            verdicts.push(verdict);
            if let Some(args) = change.filter(|_| !is_made) {
                gated.args = args;
                outdated = Some(index);
            }
        }
        // Those before the last one that changed something have not seen what would run.
        for (guard, verdict) in loaded.guards.iter().zip(&mut verdicts).take(outdated.unwrap_or(0)) {
            let (again, change) = self.judged(guard, gated).await;
            if matches!(again, Verdict::Deny { .. }) {
                return again;
            }
            if change.is_some() {
                return deny(guard, "it does not agree with another on what the arguments should be");
            }
            *verdict = again;
        }
        if outdated.is_some() {
            let mut changed = lock(&self.inner.changed);
            if changed.len() == CHANGED {
                changed.pop_front();
            }
            changed.push_back((gated.call.id.clone(), gated.args.clone()));
        }
        let asks = verdicts.iter().position(|verdict| matches!(verdict, Verdict::Ask { .. }));
        let allows = || verdicts.iter().position(|verdict| matches!(verdict, Verdict::Allow));
        match asks.or_else(allows) {
            Some(at) => verdicts.swap_remove(at),
            None => Verdict::Pass,
        }
    }

    async fn after_call(&self, call: &ToolCall, spec: &ToolSpec, made: &mut Result<ToolOutput, ToolError>) {
        let loaded = self.loaded();
        let mut result: Option<Resulted> = None;
        let mut changed = false;
        for guard in loaded.guards.iter().filter(|guard| guard.is_on() && guard.it.reviews()) {
            let now = result.get_or_insert_with(|| resulted(made));
            let looked = guard.it.tool_result(call, spec, now);
            let what = "its look at results";
            let limit = self.inner.deadlines.guard;
            if let Some(Some(other)) = self.ask_or_leave(guard, what, limit, looked).await {
                result = Some(other);
                changed = true;
            }
        }
        if let Some(result) = result.filter(|_| changed) {
            *made = if result.failed {
                Err(ToolError { message: words(&result.output.content), details: result.output.details })
            } else {
                Ok(result.output)
            };
        }
    }

    async fn transform(&self, messages: &mut Vec<Message>, _: &Context) -> Vec<WindowChange> {
        let loaded = self.loaded();
        let mut changes = Vec::new();
        for window in loaded.windows.iter().filter(|window| window.is_on()) {
            let looked = async {
                let changed = window.it.context(messages).await?;
                match changed {
                    Some(changed) if is_question(messages) && !is_question(&changed) => {
                        Err("it left nothing for the model to answer".to_owned())
                    }
                    changed => Ok(changed.filter(|changed| changed != messages)),
                }
            };
            let limit = self.inner.deadlines.window;
            let changed = self.ask_or_leave(window, "its change of the context", limit, looked).await;
            if let Some(Some(changed)) = changed {
                changes.push(WindowChange {
                    kind: "extension".to_owned(),
                    reason: format!("the extension {} changed what is sent", window.name()),
                    before: tokens::of_messages(messages),
                    after: tokens::of_messages(&changed),
                });
                *messages = changed;
            }
        }
        changes
    }

    /// Only notes what was said: what is recorded is waited for, and a record that takes long ends the run.
    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        let Record::Message(message) = record else { return Ok(()) };
        let loaded = self.loaded();
        match message {
            Message::Assistant(answer) => *lock(&self.inner.answer) = answer.text(),
            // Answers were told when they began.
            _ if loaded.hears("message_start") => {
                self.said(Moment::MessageStart { message: message.id().to_string() });
            }
            _ => {}
        }
        if loaded.hears("message_end") {
            self.said(Moment::MessageEnd { message: message.clone() });
        }
        Ok(())
    }
}

impl Extensions {
    /// What one guard says, and the arguments it wants instead.
    async fn judged(&self, guard: &One<dyn Guard>, gated: &Gated<'_>) -> (Verdict, Option<Args>) {
        if !guard.it.judges() {
            return (Verdict::Pass, None);
        }
        if let Some(reason) = guard.of.health.failure() {
            self.tell_broken(guard);
            let reason = format!(
                "it guards calls and was stopped ({reason}), so nothing runs until a person loads extensions anew \
                 (/reload) or turns it off"
            );
            return (deny(guard, &reason), None);
        }
        let looked = guard.it.tool_call(gated.call, gated.spec, &gated.args);
        match self.ask(guard, self.inner.deadlines.guard, looked).await {
            Ok(Guarded::Pass) => (Verdict::Pass, None),
            Ok(Guarded::Allow) => (Verdict::Allow, None),
            Ok(Guarded::Block { reason }) => (deny(guard, &reason), None),
            Ok(Guarded::Ask { reason }) => (ask(guard.name(), &reason), None),
            Ok(Guarded::Change { args }) => self.change(guard, gated, args),
            Ok(Guarded::ChangeAndAsk { args, reason }) => match self.change(guard, gated, args) {
                (Verdict::Pass, args) => (ask(guard.name(), &reason), args),
                refused => refused,
            },
            Err(reason) => {
                self.tell_guard(guard, &reason);
                (deny(guard, &format!("its check failed ({reason}), which means no")), None)
            }
        }
    }

    /// Takes a change of arguments, when they still fit the tool.
    fn change(&self, guard: &One<dyn Guard>, gated: &Gated<'_>, mut args: Args) -> (Verdict, Option<Args>) {
        if args == gated.args {
            return (Verdict::Pass, None);
        }
        let fits = Schema::compile(&gated.spec.schema)
            .map_err(|bad| bad.to_string())
            .and_then(|schema| schema.judge(&mut args).map_err(|invalid| invalid.to_string()));
        if let Err(reason) = fits {
            let reason = format!("it changed the arguments to some that do not fit the tool ({reason})");
            self.tell_guard(guard, &reason);
            return (deny(guard, &reason), None);
        }
        (Verdict::Pass, Some(args))
    }
}

fn rule(name: &str) -> String {
    format!("extension:{name}")
}

fn ask(name: &str, reason: &str) -> Verdict {
    Verdict::Ask { reason: format!("{name}: {reason}"), rule: Some(rule(name)), proposals: Vec::new() }
}

/// Hooks are no extension to those who set them up, and say themselves that they are hooks.
fn deny(guard: &One<dyn Guard>, reason: &str) -> Verdict {
    let name = guard.name();
    let reason = match guard.of.status.origin {
        Origin::Hook => format!("Not run: {reason}"),
        Origin::Compiled | Origin::Scripted => format!("Not run: the extension {name} says no: {reason}"),
    };
    Verdict::Deny { reason, rule: Some(rule(name)) }
}

/// Whether there is something to answer at the end.
fn is_question(messages: &[Message]) -> bool {
    messages.last().is_some_and(|last| !matches!(last, Message::Assistant(_)))
}

fn resulted(made: &Result<ToolOutput, ToolError>) -> Resulted {
    match made {
        Ok(output) => Resulted { output: output.clone(), failed: false },
        Err(error) => Resulted {
            output: ToolOutput {
                content: vec![Content::text(error.message.clone())],
                details: error.details.clone(),
            },
            failed: true,
        },
    }
}

/// What content says. A failure is words.
fn words(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Content::Text { text } => Some(text.as_str()),
        Content::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
