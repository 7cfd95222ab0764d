//! Extensions among those who are told what happens.

use async_trait::async_trait;
use mica_agent::{Event, EventKind, Listener};
use mica_ai::message::ResultStatus;

use super::{Extensions, Says, lock};
use crate::concern::Moment;

#[async_trait]
impl Listener for Extensions {
    fn hears(&self, kind: &EventKind) -> bool {
        self.is_said(Says::HEARS)
            && (self.has_said() || named(kind).is_some_and(|name| self.loaded().hears(name)))
    }

    async fn event(&self, event: Event) {
        self.tell_said().await;
        if let Some(moment) = self.moment(event.kind) {
            self.tell(&moment).await;
        }
    }
}

/// Moments that wait to be told. A run tells them with its next event; the oldest go first where there is none.
const SAID: usize = 64;

impl Extensions {
    /// Notes a moment, to be told as soon as nobody waits for a record.
    pub(super) fn said(&self, moment: Moment) {
        let mut said = lock(&self.inner.said);
        if said.len() == SAID {
            said.pop_front();
        }
        said.push_back(moment);
    }

    fn has_said(&self) -> bool {
        !lock(&self.inner.said).is_empty()
    }

    /// Tells what was noted.
    pub(super) async fn tell_said(&self) {
        if !self.is_said(Says::MESSAGES) {
            return;
        }
        loop {
            let next = lock(&self.inner.said).pop_front();
            let Some(moment) = next else { return };
            self.tell(&moment).await;
        }
    }

    /// Tells whoever wants to hear of it that something happened. Returns when they have heard, within their time. For
    /// what is no event of a run: sessions, models, compaction.
    pub async fn tell(&self, moment: &Moment) {
        if !self.is_said(Says::HEARS) {
            return;
        }
        let kind = moment.kind();
        let loaded = self.loaded();
        for one in loaded.lifecycles.iter().filter(|one| one.is_on() && one.it.hears(kind)) {
            let what = format!("its handler of {kind}");
            self.ask_or_leave(one, &what, self.inner.deadlines.moment, one.it.moment(moment)).await;
        }
    }

    fn moment(&self, kind: EventKind) -> Option<Moment> {
        Some(match kind {
            EventKind::RunStart => {
                lock(&self.inner.answer).clear();
                Moment::AgentStart
            }
            EventKind::RunEnd { outcome } => {
                Moment::AgentEnd { outcome, answer: lock(&self.inner.answer).clone() }
            }
            EventKind::TurnStart { turn } => Moment::TurnStart { turn },
            EventKind::TurnEnd { turn } => Moment::TurnEnd { turn },
            EventKind::AnswerStart { message } => Moment::MessageStart { message: message.to_string() },
            EventKind::Answer { message, delta } => Moment::MessageUpdate {
                message: message.to_string(),
                delta: serde_json::to_value(delta).unwrap_or_default(),
            },
            EventKind::CallStart { call, tool, arguments, .. } => {
                Moment::ToolStart { call: call.to_string(), tool, args: arguments }
            }
            EventKind::CallProgress { call, news } => Moment::ToolUpdate { call: call.to_string(), news },
            EventKind::CallEnd { call, status, .. } => {
                Moment::ToolEnd { call: call.to_string(), failed: status == ResultStatus::Failed }
            }
            EventKind::Window { change } if change.kind == "compaction" => {
                Moment::Compacted { reason: change.reason, before: change.before, after: change.after }
            }
            EventKind::Subagent { agent, event } => match *event {
                EventKind::RunStart => Moment::SubagentStart { agent },
                EventKind::RunEnd { outcome } => Moment::SubagentEnd { agent, outcome },
                _ => return None,
            },
            EventKind::Notice { text } => Moment::Notice { text },
            _ => return None,
        })
    }
}

/// The kind of moment that an event is, before anything of it is copied.
fn named(kind: &EventKind) -> Option<&'static str> {
    Some(match kind {
        EventKind::RunStart => "agent_start",
        EventKind::RunEnd { .. } => "agent_end",
        EventKind::TurnStart { .. } => "turn_start",
        EventKind::TurnEnd { .. } => "turn_end",
        EventKind::AnswerStart { .. } => "message_start",
        EventKind::Answer { .. } => "message_update",
        EventKind::CallStart { .. } => "tool_execution_start",
        EventKind::CallProgress { .. } => "tool_execution_update",
        EventKind::CallEnd { .. } => "tool_execution_end",
        EventKind::Window { change } if change.kind == "compaction" => "compacted",
        EventKind::Subagent { event, .. } => match **event {
            EventKind::RunStart => "subagent_start",
            EventKind::RunEnd { .. } => "subagent_end",
            _ => return None,
        },
        EventKind::Notice { .. } => "notice",
        _ => return None,
    })
}
