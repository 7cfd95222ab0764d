//! Work that a person can stop: the first Ctrl-C ends what runs, which says so itself; the second leaves.

use std::future::Future;
use std::time::Duration;

use mica_domain::Copilot;
use pack_desk::Office;

use super::lines::From;
use super::room::Room;
use super::screen::Screen;
use crate::terminal::Input;
use std::sync::Arc;

/// How often what runs is told to stop: what was about to begin when it was told first begins all the same.
const AGAIN: Duration = Duration::from_millis(100);

/// What is said where lines were not taken.
pub const HELD: &str = "what you typed meanwhile was not sent; it is in the prompt";

/// What came of something that could be stopped.
pub enum Ended<T> {
    /// It came to its end.
    Done(T),
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

    /// Stops.
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
        let mut stopping = false;
        loop {
            tokio::select! {
                done = &mut running => break Ended::Done(done),
                input = from.typed() => match input {
                    Input::End if scope == Scope::Glance => from.end(),
                    Input::Interrupt | Input::End if stopping => break Ended::Left,
                    Input::Interrupt if scope == Scope::Glance && !self.is_busy().await => break Ended::Left,
                    Input::Interrupt | Input::End => {
                        stopping = true;
                        self.screen.note("…", "stopping; Ctrl-C again leaves");
                        self.stop(scope).await;
                    }
                    Input::Line(line) => from.came(line),
                    Input::Key(_) | Input::Cleared => {}
                },
                () = tokio::time::sleep(AGAIN), if stopping => self.stop(scope).await,
            }
        }
    }
}
