//! Asking something of an extension: for so long, and whatever it does, in words.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::FutureExt;
use mica_agent::Patience;

use super::{Extensions, One};
use crate::concern::Failure;

impl Extensions {
    /// Asks one, within its time. A panic is a failure, and so is no answer.
    pub(super) async fn ask<T, A: ?Sized>(
        &self,
        one: &One<A>,
        usual: Duration,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        if let Some(reason) = one.of.health.failure() {
            return Err(reason.to_owned());
        }
        let limit = one.of.deadline.unwrap_or(usual);
        let made = match Patience::within(limit, AssertUnwindSafe(work).catch_unwind()).await {
            Some(Ok(made)) => made,
            Some(Err(panic)) => Err(format!("it broke: {}", words(&*panic))),
            None => Err(format!("it did not answer within {} s", limit.as_secs_f32())),
        };
        if one.of.health.failure().is_some() {
            self.tell_broken(one);
        }
        made
    }

    /// Asks one whose failure is told once, and leaves it out from then on.
    pub(super) async fn ask_or_leave<T, A: ?Sized>(
        &self,
        one: &One<A>,
        what: &str,
        usual: Duration,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Option<T> {
        match self.ask(one, usual, work).await {
            Ok(made) => Some(made),
            Err(reason) => {
                one.off.store(true, Ordering::Release);
                if one.of.health.failure().is_none() && !one.told.swap(true, Ordering::AcqRel) {
                    let text =
                        format!("{what} failed and is left out until extensions are loaded anew: {reason}");
                    self.notice(one.name(), text);
                }
                None
            }
        }
    }

    /// Tells that a guard failed, once; it is asked all the same.
    pub(super) fn tell_guard<A: ?Sized>(&self, one: &One<A>, reason: &str) {
        if one.of.health.failure().is_none() && !one.told.swap(true, Ordering::AcqRel) {
            self.notice(one.name(), format!("its guard failed, which means no: {reason}"));
        }
    }

    /// Tells that an extension does not work any more, once, and what follows from it.
    pub(super) fn tell_broken<A: ?Sized>(&self, one: &One<A>) {
        let Some(reason) = one.of.health.failure() else { return };
        if one.of.told.swap(true, Ordering::AcqRel) {
            return;
        }
        let follows = if one.of.status.guards {
            ". It guards calls, so every call is refused until extensions are loaded anew (/reload) or it is turned off"
        } else {
            ". It is left out until extensions are loaded anew (/reload)"
        };
        self.notice(one.name(), format!("it was stopped: {reason}{follows}"));
    }
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
