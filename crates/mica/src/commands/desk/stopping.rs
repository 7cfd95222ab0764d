//! Work that a person can stop: the first Ctrl-C ends what runs, which says so itself; the second leaves.
//!
//! Promise: the second always leaves at once, whatever does not stop, and says what is left in the middle.

use std::future::Future;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mica_domain::Copilot;
use pack_desk::Office;

use super::lines::From;
use super::room::Room;
use super::screen::{Screen, row};
use crate::terminal::Input;
use std::sync::Arc;

/// How often what runs is told to stop: what was about to begin when it was told first begins all the same.
const AGAIN: Duration = Duration::from_millis(100);

/// How long is looked for what is left in the middle, when somebody leaves at once.
const GLIMPSE: Duration = Duration::from_millis(300);

/// How many runs that are left are named.
const NAMED: usize = 6;

/// What is said where lines were not taken.
pub const HELD: &str = "what you typed meanwhile was not sent; it is in the prompt, line by line";

/// What came of something that could be stopped.
pub enum Ended<T> {
    /// It came to its end.
    Done(T),
    /// It did, after somebody had it stopped.
    Stopped(T),
    /// The person left before.
    Left,
}

/// What stops things.
#[derive(Clone)]
pub struct Stop {
    copilot: Copilot,
    office: Office,
    screen: Arc<Screen>,
}

/// What is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nothing that somebody asked for: who wants to leave leaves.
    Glance,
    /// The member's own conversation.
    Conversation,
    /// That, and the agents that work here: a command had them begin.
    Agents,
}

impl Stop {
    /// What stops things in a room.
    pub fn of(room: &Room) -> Self {
        Self { copilot: room.copilot.clone(), office: room.office.clone(), screen: Arc::clone(&room.screen) }
    }

    /// Whether the conversation is at something.
    pub async fn is_busy(&self) -> bool {
        self.copilot.agent().with(|_| ()).await.is_err()
    }

    /// Stops. Agents may have to be waited for, so this is never waited for where a key could come.
    pub async fn stop(&self, scope: Scope) {
        self.copilot.agent().abort();
        match scope {
            Scope::Glance | Scope::Conversation => {}
            Scope::Agents => self.office.stop().await,
        }
    }

    /// Waits for something, and listens to the person meanwhile. What they type is in the next line.
    pub async fn attend<T>(
        &self,
        from: &mut From,
        scope: Scope,
        running: impl Future<Output = T>,
    ) -> Ended<T> {
        tokio::pin!(running);
        // What is done at once needs nobody, and takes no key from the prompt.
        if let std::task::Poll::Ready(done) = futures::poll!(&mut running) {
            return Ended::Done(done);
        }
        from.watch();
        let ended = self.listen(from, scope, running).await;
        from.unwatch().await;
        if scope != Scope::Glance && from.hold() {
            self.screen.note("…", HELD);
        }
        ended
    }

    async fn listen<T>(
        &self,
        from: &mut From,
        scope: Scope,
        mut running: std::pin::Pin<&mut impl Future<Output = T>>,
    ) -> Ended<T> {
        // Whether something was told to stop, and the telling, as long as it goes on.
        let (mut stopping, mut telling) = (false, None::<BoxFuture<'_, ()>>);
        loop {
            tokio::select! {
                done = &mut running => break if stopping { Ended::Stopped(done) } else { Ended::Done(done) },
                input = from.typed() => match input {
                    Input::End if scope == Scope::Glance => from.end(),
                    Input::Interrupt | Input::End if stopping => break Ended::Left,
                    Input::Interrupt if scope == Scope::Glance && !self.is_busy().await => break Ended::Left,
                    Input::Interrupt | Input::End => {
                        stopping = true;
                        self.screen.note("…", "stopping; Ctrl-C again leaves");
                        telling = Some(self.stop(scope).boxed());
                    }
                    Input::Line(line) => from.came(&line),
                    Input::Key(_) | Input::Cleared => {}
                },
                () = told(&mut telling), if telling.is_some() => telling = None,
                () = tokio::time::sleep(AGAIN), if stopping && telling.is_none() => {
                    telling = Some(self.stop(scope).boxed());
                }
            }
        }
    }

    /// Says what somebody leaves in the middle who waits for nothing.
    pub async fn tell_left(&self) {
        let mut left: Vec<String> = Vec::new();
        if self.is_busy().await {
            left.push("the copilot".to_owned());
        }
        let runs = tokio::time::timeout(GLIMPSE, self.office.runs()).await;
        for ran in runs.ok().and_then(Result::ok).unwrap_or_default().iter().filter(|ran| !ran.is_over()) {
            let about = ran.about().map(|about| format!(" at {}", row(about))).unwrap_or_default();
            left.push(format!("{}{about} ({})", row(&ran.fire.agent), row(ran.outcome())));
        }
        if left.is_empty() {
            return;
        }
        if let Some(more) = left.len().checked_sub(NAMED).filter(|more| *more > 0) {
            left.truncate(NAMED);
            left.push(format!("{more} more"));
        }
        let text = format!("left in the middle: {}; /runs says what becomes of it", left.join(", "));
        self.screen.warn(&format!("desk: {text}"));
    }
}

/// Waits until something was told to stop.
async fn told(telling: &mut Option<BoxFuture<'_, ()>>) {
    if let Some(telling) = telling {
        telling.await;
    }
}
