//! Command hooks as an extension: the concerns that they have a say in, and what of them only hooks of a run can do.
//!
//! Two guards stand one behind the other. The first one changes what hooks changed, and the second one says what hooks say
//! of the call as it is then: a call that is changed and asked about needs both.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Point, Step};
use mica_agent::{Args, Ask, Context, Decision, Hooks, Limit, Outcome, RunError, ToolSpec};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Message, User};
use serde_json::{Value, json};

use super::answer::Wish;
use super::commands::{CommandHooks, Judgement, STOPS, Said};
use super::config::Owner;
use super::event::HookEvent;
use super::fence::fenced;
use super::payload::{Called, CameTo, Occasion};
use crate::concern::{Failure, Guard, Guarded, Input, Lifecycle, Moment, Prompting, Resulted, Typed};
use crate::registry::Registry;

/// What an extension has besides what its hooks may take, for starting them and reading what they say.
const SLACK: Duration = Duration::from_secs(10);

/// What hooks of a run have at least.
const USUAL: Duration = Duration::from_secs(30);

/// The questions that are for people only: that nothing confines a command, and what is remembered.
const PEOPLE_ONLY: [&str; 2] = ["sandbox", "memory"];

impl CommandHooks {
    /// What they bring. Where nothing is hooked to something, nobody is asked about it.
    pub fn registry(&self) -> Registry {
        let mut registry = Registry::default();
        let configured = self.configured();
        if configured.is_empty() {
            return registry;
        }
        let judges = self.has(HookEvent::PreToolUse) || !configured.closed.is_empty();
        let reviews = [HookEvent::PreToolUse, HookEvent::PostToolUse, HookEvent::PostToolUseFailure];
        let reviews = reviews.into_iter().any(|event| self.has(event)) || self.speaks();
        if judges || reviews {
            registry.guards.push(Arc::new(Changes { hooks: self.clone(), judges, reviews }));
        }
        if judges {
            registry.guards.push(Arc::new(Says(self.clone())));
        }
        if self.has(HookEvent::UserPromptSubmit) {
            registry.inputs.push(Arc::new(self.clone()));
        }
        if self.speaks() {
            registry.prompting.push(Arc::new(self.clone()));
        }
        registry.lifecycles.push(Arc::new(self.clone()));
        // What comes behind a compaction is told to two kinds of hooks, one after the other.
        let compacted = self.longest(&[HookEvent::PostCompact]) + self.longest(&[HookEvent::SessionStart]);
        registry.deadline = Some(self.longest(&HookEvent::ALL).max(compacted) + SLACK);
        registry
    }

    /// Whether somebody may have something to tell the model at a time when nobody reads it.
    fn speaks(&self) -> bool {
        !self.configured().hooks.is_empty()
    }

    /// What they do that is no concern of an extension: holding up the end of a run, answering questions, ending a run.
    pub fn hooks(&self) -> Option<Arc<dyn Hooks>> {
        (!self.configured().hooks.is_empty()).then(|| Arc::new(RunHooks(self.clone())) as Arc<dyn Hooks>)
    }

    /// Hooks of the beginning of a session. What they print stands at the tail of the conversation from the next prompt on.
    async fn session_starts(&self, source: &str) {
        if !self.has(HookEvent::SessionStart) {
            return;
        }
        let is_resumed = source == "startup" && self.session().situation().is_resumed;
        let source = if is_resumed { "resume" } else { source };
        let occasion = Occasion::new(HookEvent::SessionStart).with("source", source);
        let said = self.fire(&occasion, None).await;
        let context = said.iter().filter_map(|said| said.answer.context.as_deref());
        let context: Vec<String> = context.map(|text| fenced(HookEvent::SessionStart, text)).collect();
        let mut state = self.state();
        // In the middle of a run, it is read with what comes next.
        if source == "compact" { state.pending.extend(context) } else { state.standing = context }
    }

    /// Hooks of something that nothing comes of but what they tell.
    async fn told(&self, occasion: Occasion) {
        if self.has(occasion.event) {
            let said = self.fire(&occasion, None).await;
            self.keep_context(occasion.event, &said);
        }
    }

    /// The same, while things go on.
    fn told_aside(&self, occasion: Occasion) {
        if self.has(occasion.event) {
            let hooks = self.clone();
            self.spawn(async move { hooks.told(occasion).await });
        }
    }

    /// What the model is told when its run should not end yet.
    pub async fn stop(&self) -> Option<String> {
        if !self.has(HookEvent::Stop) {
            return None;
        }
        let (stops, words) = {
            let state = self.state();
            (state.stops, state.last_words.clone())
        };
        if stops >= STOPS {
            self.state().stops = 0;
            self.session().tell(format!(
                "Stop hooks held the end of the run up {STOPS} times in a row; it ends now, whatever they say"
            ));
            return None;
        }
        let occasion = Occasion::new(HookEvent::Stop)
            .with("stop_hook_active", stops > 0)
            .with("last_assistant_message", words);
        let said = self.fire(&occasion, None).await;
        let is_halted = self.state().halt.take().is_some();
        let reasons: Vec<&str> = said
            .iter()
            .filter(|said| said.answer.wish == Some(Wish::Deny))
            .map(|said| said.answer.reason.as_deref().unwrap_or("You are not done yet."))
            .collect();
        if is_halted || reasons.is_empty() {
            self.keep_context(HookEvent::Stop, &said);
            self.state().stops = 0;
            return None;
        }
        self.state().stops += 1;
        Some(fenced(HookEvent::Stop, &reasons.join("\n")))
    }

    /// What hooks decide about a question that a person would be asked.
    pub async fn permission(&self, ask: &Ask) -> Option<Decision> {
        let args = ask.arguments.as_object().cloned().unwrap_or_default();
        let (id, tool) = (ask.call.id.to_string(), ask.call.name.clone());
        let called = Called { id, tool: tool.clone(), args, came_to: None };
        let occasion = Occasion::of(HookEvent::PermissionRequest, called)
            .with("reason", ask.reason.clone())
            .with("permission_suggestions", json!([]));
        let said = self.fire(&occasion, None).await;
        if let Some(no) = said.iter().find(|said| said.answer.wish == Some(Wish::Deny)) {
            let reason = no.answer.reason.as_deref().unwrap_or("it gave no reason");
            return Some(Decision::Refuse { reason: fenced(HookEvent::PermissionRequest, reason) });
        }
        // Somebody wants a person to look.
        if said.iter().any(|said| said.answer.wish == Some(Wish::Ask))
            || ask.rule.as_deref().is_some_and(|rule| PEOPLE_ONLY.contains(&rule))
        {
            return None;
        }
        let hook = |said: &Said| self.configured().hooks.get(said.index);
        let yes = said.iter().find(|said| {
            said.answer.wish == Some(Wish::Allow) && hook(said).is_some_and(|hook| hook.owner == Owner::User)
        })?;
        let vocabulary = hook(yes).map(|hook| hook.vocabulary).unwrap_or_default();
        Some(match &yes.answer.input {
            None => Decision::Allow,
            Some(input) => Decision::AllowWith { arguments: Value::Object(vocabulary.meant(&tool, input)) },
        })
    }
}

/// The guard that makes the changes, and looks at results.
struct Changes {
    hooks: CommandHooks,
    judges: bool,
    reviews: bool,
}

#[async_trait]
impl Guard for Changes {
    fn judges(&self) -> bool {
        self.judges
    }

    fn reviews(&self) -> bool {
        self.reviews
    }

    async fn tool_call(&self, call: &ToolCall, spec: &ToolSpec, args: &Args) -> Result<Guarded, Failure> {
        let judged = self.hooks.before_call(call.id.as_str(), &spec.name, args).await;
        Ok(match (judged.verdict, judged.args) {
            (Judgement::Deny(reason), _) => Guarded::Block { reason },
            (_, Some(args)) => Guarded::Change { args },
            _ => Guarded::Pass,
        })
    }

    async fn tool_result(
        &self,
        call: &ToolCall,
        spec: &ToolSpec,
        result: &Resulted,
    ) -> Result<Option<Resulted>, Failure> {
        let id: &str = call.id.as_str();
        let args = self.hooks.changed_args(id).or_else(|| call.arguments.parse().ok()).unwrap_or_default();
        let came_to = CameTo {
            text: words(&result.output.content),
            details: result.output.details.clone(),
            failed: result.failed,
        };
        let called = Called { id: id.to_owned(), tool: spec.name.clone(), args, came_to: Some(came_to) };
        let after = self.hooks.after_call(called).await;
        if after.instead.is_none() && after.besides.is_empty() {
            return Ok(None);
        }
        let mut changed = result.clone();
        if let Some(instead) = after.instead {
            changed.output.content.retain(|part| !matches!(part, Content::Text { .. }));
            changed.output.content.insert(0, Content::text(instead));
        }
        changed.output.content.extend(after.besides.into_iter().map(Content::text));
        Ok(Some(changed))
    }
}

fn words(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Content::Text { text } => Some(text.as_str()),
        Content::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The guard that says what hooks say of the call as it is now.
struct Says(CommandHooks);

#[async_trait]
impl Guard for Says {
    fn reviews(&self) -> bool {
        false
    }

    async fn tool_call(&self, call: &ToolCall, spec: &ToolSpec, args: &Args) -> Result<Guarded, Failure> {
        Ok(match self.0.before_call(call.id.as_str(), &spec.name, args).await.verdict {
            Judgement::Pass => Guarded::Pass,
            Judgement::Allow => Guarded::Allow,
            Judgement::Ask(reason) => Guarded::Ask { reason },
            Judgement::Deny(reason) => Guarded::Block { reason },
        })
    }
}

#[async_trait]
impl Input for CommandHooks {
    async fn input(&self, text: &str) -> Result<Typed, Failure> {
        if !self.has(HookEvent::UserPromptSubmit) {
            return Ok(Typed::Go);
        }
        let occasion = Occasion::new(HookEvent::UserPromptSubmit).with("prompt", text);
        let said = self.fire(&occasion, None).await;
        // What ends a run before it has begun refuses what was said.
        let halt = self.state().halt.take();
        let no = said.iter().find(|said| said.answer.wish == Some(Wish::Deny));
        if let Some(no) = no {
            let reason =
                halt.or_else(|| no.answer.reason.clone()).unwrap_or_else(|| "it gave no reason".to_owned());
            return Ok(Typed::Refused(format!(
                "a UserPromptSubmit hook does not let this be said: {reason}"
            )));
        }
        self.keep_context(HookEvent::UserPromptSubmit, &said);
        Ok(Typed::Go)
    }
}

#[async_trait]
impl Prompting for CommandHooks {
    async fn before_run(&self, _: &str) -> Result<Option<String>, Failure> {
        let mut context = self.state().standing.clone();
        context.extend(self.take_pending());
        Ok((!context.is_empty()).then(|| context.join("\n\n")))
    }
}

#[async_trait]
impl Lifecycle for CommandHooks {
    fn hears(&self, kind: &str) -> bool {
        match kind {
            // What was said of calls is forgotten with the turn.
            "turn_start" => self.has(HookEvent::PreToolUse) || self.has(HookEvent::PermissionRequest),
            "message_end" => self.has(HookEvent::Stop) || self.has(HookEvent::SubagentStop),
            "session_start" => self.has(HookEvent::SessionStart),
            // A run counts anew, and what runs aside ends with the session.
            "agent_start" | "session_shutdown" => true,
            // What was about to happen says why, also for those who are told when it has.
            "before_compact" => self.has(HookEvent::PreCompact) || self.has(HookEvent::PostCompact),
            "compacted" => self.has(HookEvent::PostCompact) || self.has(HookEvent::SessionStart),
            "subagent_start" => self.has(HookEvent::SubagentStart),
            "subagent_end" => self.has(HookEvent::SubagentStop),
            "notice" => self.has(HookEvent::Notification),
            _ => false,
        }
    }

    async fn moment(&self, moment: &Moment) -> Result<(), Failure> {
        match moment {
            Moment::AgentStart => {
                let mut state = self.state();
                state.stops = 0;
                state.halt = None;
            }
            Moment::TurnStart { .. } => self.forget_calls(),
            Moment::MessageEnd { message: Message::Assistant(answer) } => {
                self.state().last_words = answer.text();
            }
            // Loaded anew or on another branch, the session is the same, and what was told at its beginning has to be told again.
            Moment::SessionStart { reason: "reload" | "goto" } => self.session_starts("resume").await,
            Moment::SessionStart { reason } => self.session_starts(reason).await,
            Moment::SessionShutdown { reason } => {
                if *reason != "reload" {
                    self.told(Occasion::new(HookEvent::SessionEnd).with("reason", "other")).await;
                }
                self.close().await;
            }
            Moment::BeforeCompact { trigger, focus, .. } => {
                self.state().trigger = *trigger;
                let occasion = Occasion::new(HookEvent::PreCompact)
                    .with("trigger", trigger.name())
                    .with("custom_instructions", focus.as_deref().unwrap_or_default());
                self.told(occasion).await;
            }
            Moment::Compacted { before, after, .. } => {
                let trigger = self.state().trigger;
                let occasion = Occasion::new(HookEvent::PostCompact)
                    .with("trigger", trigger.name())
                    .with("tokens", json!({ "before": before, "after": after }));
                self.told(occasion).await;
                // What was told at the beginning may be gone with what was shortened.
                self.session_starts("compact").await;
            }
            Moment::SubagentStart { agent } => {
                self.told(subagent(HookEvent::SubagentStart, agent)).await;
            }
            Moment::SubagentEnd { agent, outcome } => {
                let occasion = subagent(HookEvent::SubagentStop, agent)
                    .with("stop_hook_active", false)
                    .with("outcome", outcome_name(outcome));
                self.told(occasion).await;
            }
            Moment::Notice { text } => {
                let occasion = Occasion::new(HookEvent::Notification)
                    .with("message", text.as_str())
                    .with("notification_type", "notice");
                self.told(occasion).await;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The id of a subagent begins with its profile.
fn subagent(event: HookEvent, agent: &str) -> Occasion {
    let profile = agent.rsplit_once('-').map_or(agent, |(profile, _)| profile);
    Occasion::new(event).with("agent_id", agent).with("agent_type", profile)
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Exhausted { .. } => "exhausted",
        Outcome::Suspended { .. } => "suspended",
        Outcome::Aborted => "aborted",
        Outcome::Failed { .. } => "failed",
    }
}

/// What only hooks of a run can do.
struct RunHooks(CommandHooks);

#[async_trait]
impl Hooks for RunHooks {
    fn says(&self, at: Point) -> bool {
        match at {
            Point::BeforeTurn => self.0.state().halt.is_some(),
            Point::Approve => self.0.has(HookEvent::PermissionRequest) || self.0.has(HookEvent::Notification),
            Point::FollowUp => self.0.has(HookEvent::Stop),
            _ => false,
        }
    }

    fn deadline(&self) -> Duration {
        self.0.longest(&[HookEvent::Stop]).max(USUAL) + SLACK
    }

    async fn before_turn(&self, _: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        let step = match self.0.state().halt.take() {
            None => Step::Go,
            Some(reason) => Step::Stop(Limit { name: "hooks".to_owned(), reached: reason }),
        };
        Ok((step, Vec::new()))
    }

    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let hooks = &self.0;
        let mut decisions = Vec::with_capacity(asks.len());
        let mut left = Vec::new();
        for ask in asks {
            // What hooks left to a person comes again, behind what they decided.
            let is_new = hooks.state().asked.insert(ask.call.id.to_string());
            let asks_hooks = is_new && hooks.has(HookEvent::PermissionRequest);
            let decision = if asks_hooks { hooks.permission(ask).await } else { None };
            if is_new && decision.is_none() {
                left.push(ask);
            }
            decisions.push(decision);
        }
        for ask in left {
            let occasion = Occasion::new(HookEvent::Notification)
                .with("message", format!("mica asks whether it may call {}: {}", ask.call.name, ask.reason))
                .with("notification_type", "permission_prompt");
            // The person is asked meanwhile.
            hooks.told_aside(occasion);
        }
        if decisions.iter().all(Option::is_none) {
            return None;
        }
        Some(decisions.into_iter().map(|decision| decision.unwrap_or(Decision::Later)).collect())
    }

    async fn follow_up(&self) -> Vec<Message> {
        self.0.stop().await.map(|text| User::text(text).into()).into_iter().collect()
    }
}

#[cfg(test)]
mod tests;
