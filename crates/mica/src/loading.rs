//! Extensions of an agent at work: loaded when it begins, and anew when somebody asks for it or a file changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use mica_agent::Context;
use mica_domain::{Capability, Page};
use mica_ext::world::Severity;
use mica_ext::{Moment, World as _};
use serde_json::Value;

use crate::switching::BUSY;
use crate::work::Work;

/// When the model has what extensions bring.
enum Brought {
    /// It has it.
    Now,
    /// It does not, until another session begins.
    Later,
}

impl Work {
    /// Loads extensions. The reasons are those of [`Moment::SessionStart`]. Answers what people should know.
    async fn load(&self, reason: &'static str) -> Vec<String> {
        let mut told = self.loading.load().await;
        match self.bring(reason).await {
            Ok(Brought::Now) => {}
            Ok(Brought::Later) => told.push(
                "tools of extensions changed: the model sees that in the next session, because what it was sent stays as it is"
                    .to_owned(),
            ),
            Err(error) => told.push(format!("{error:#}")),
        }
        let tools = self.agent.with(|cx| cx.tools.callable()).await.unwrap_or_default();
        told.extend(self.hooks_tell.idle(&tools));
        told.extend(self.extensions().take_notices().iter().map(ToString::to_string));
        // Where people look, and not all that is around: that has the extensions, through the agent.
        let screen = Arc::clone(&self.loading.around.screen);
        self.extensions().tell_notices(move |notice| {
            screen.notify(&notice.extension, &notice.text, Severity::Warn);
        });
        told
    }

    /// Loads extensions for a session that begins or goes on. They are told of it by [`Work::session_starts`].
    pub async fn load_first(&self) -> Vec<String> {
        self.load(self.outset()).await
    }

    /// Tells extensions that the session begins or goes on. One of them may ask something, so this is done where somebody
    /// listens.
    pub async fn session_starts(&self) {
        self.extensions().tell(&Moment::SessionStart { reason: self.outset() }).await;
    }

    fn outset(&self) -> &'static str {
        let goes_on = self.keeper.as_ref().is_some_and(|keeper| !keeper.session().is_draft());
        if goes_on { "resume" } else { "startup" }
    }

    /// Loads extensions anew, and tells them.
    ///
    /// # Errors
    /// A run goes on, and the tools of a model do not change within one.
    pub async fn reload(&self) -> Result<Vec<String>> {
        if !self.loading.around.is_idle() {
            return Err(anyhow!(
                "a run is going on, and extensions are loaded between runs: wait for its end, or stop it"
            ));
        }
        self.extensions().tell(&Moment::SessionShutdown { reason: "reload" }).await;
        let told = self.load("reload").await;
        self.extensions().tell(&Moment::SessionStart { reason: "reload" }).await;
        Ok(told)
    }

    /// Gives the model the tools that extensions bring. As long as they are the same, nothing changes for it: what a tool
    /// does is looked up when it is called. In a conversation that has begun they stay as they were: another list would
    /// uncache all of it. The next session, or another model, has them.
    async fn bring(&self, reason: &str) -> Result<Brought> {
        let tools = self.extensions().tools(|name| self.own_tools.contains(name));
        let specs = |capabilities: &[Capability]| -> BTreeMap<String, (String, Value)> {
            let tools = capabilities.iter().flat_map(|capability| &capability.tools);
            let spec = tools.map(|tool| tool.spec());
            spec.map(|spec| (spec.name.clone(), (spec.description.clone(), spec.schema.clone()))).collect()
        };
        let new = match tools {
            none if none.is_empty() => Vec::new(),
            some => vec![Capability::new(Page::Global, "does what extensions bring", some)],
        };
        let before = self.makes.bring(new.clone());
        if specs(&before) == specs(&new) {
            return Ok(Brought::Now);
        }
        let pack = self.makes.pack(&self.choice())?;
        let swap = |cx: &mut Context| -> Result<Brought> {
            if reason == "reload" && !cx.messages.is_empty() {
                return Ok(Brought::Later);
            }
            let was = self.domain.domain();
            self.domain.rebuild(pack);
            let (tools, prompt) = match self.makes.texts(&self.domain, &|_| true) {
                Ok(texts) => texts,
                Err(error) => {
                    self.domain.rebuild(was);
                    self.makes.bring(before);
                    return Err(error.context("the tools of extensions are not used"));
                }
            };
            cx.tools = tools.tools;
            cx.system = prompt.system();
            self.loading.around.told(cx);
            Ok(Brought::Now)
        };
        self.agent.with(swap).await.map_err(|_| anyhow!(BUSY))?
    }
}
