//! Goes on with bundles that a process left in the middle.
//!
//! Promise: what somebody approved is done only while they are there and may approve it. Whoever goes on asks who they are by
//! then, also about what needs no right; what is not done any more for want of that is on record, and somebody else may decide.

use mica_agent::Effect;

use super::Applier;
use super::doing::effect;
use crate::approvals::{Deed, People, Person, Trace};
use crate::capture::action::{Action, Status};
use crate::capture::bundle::Bundle;
use crate::capture::bundles::{Read, under_way};
use crate::capture::error::CaptureError;

impl Applier {
    /// Goes on with a bundle whose actions were picked, and that a process left in the middle, for whoever approved it and with
    /// the rights that they have now. One that is not in the middle stays as it is.
    ///
    /// # Errors
    /// [`CaptureError`], [`CaptureError::UnderWay`] among them. When it cannot be found out who approved it nothing is done.
    pub async fn resume(&self, id: &str, people: &dyn People) -> Result<Bundle, CaptureError> {
        let Read { mut bundle, version } = self.bundles.read(id).await?;
        let now = (self.clock)();
        if bundle.lease.is_none() {
            return Ok(bundle);
        }
        if self.is_held(&bundle, now).await {
            return Err(under_way(&bundle, now));
        }
        let tools = &self.tools;
        for action in bundle.actions.iter_mut().filter(|action| action.status == Status::Began) {
            action.status = match effect(tools, action) {
                Effect::Unsafe => Status::Unknown {
                    reason: "the process ended while it was being done; it may have been done, and is not tried again"
                        .to_owned(),
                },
                Effect::Pure | Effect::Idempotent | Effect::Keyed | Effect::Transactional => Status::Picked,
            };
        }
        if bundle.is_under_way() {
            let approver = approver(&bundle, people).await?;
            let mut reasons: Vec<String> = Vec::new();
            for action in bundle.actions.iter_mut().filter(|action| action.status == Status::Picked) {
                let Some(reason) = self.revoked(action, &approver) else { continue };
                let in_doubt = action.tried.is_some();
                // It may have been done before the process ended. What was not tried may be decided anew.
                let status = match in_doubt {
                    true => Status::Unknown { reason: reason.clone() },
                    false => Status::Skipped { reason: reason.clone() },
                };
                action.end(status, in_doubt);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            if !reasons.is_empty() {
                let by = bundle.approved_by().unwrap_or_default().to_owned();
                let deed = Deed::Revoked { reason: reasons.join("; ") };
                bundle.trail.push(Trace { at: now, by, deed });
            }
        }
        self.work(bundle, version).await
    }

    /// Goes on with all that was left in the middle: call it when the process begins. What others work at is left to them,
    /// and what cannot be gone on with keeps nobody from the rest.
    ///
    /// # Errors
    /// [`CaptureError`] of the first that failed otherwise, behind the others.
    pub async fn resume_all(&self, people: &dyn People) -> Result<Vec<Bundle>, CaptureError> {
        let (mut bundles, mut failed) = (Vec::new(), None);
        for bundle in self.bundles.left().await? {
            match self.resume(bundle.id(), people).await {
                Ok(bundle) => bundles.push(bundle),
                Err(error) if error.is_of_others() => {}
                Err(error) => {
                    tracing::error!(bundle = bundle.id(), %error, "a bundle could not be gone on with");
                    failed.get_or_insert(error);
                }
            }
        }
        failed.map_or(Ok(bundles), Err)
    }

    /// Why an action is not done any more for whoever approved it.
    fn revoked(&self, action: &Action, approver: &Result<Person, String>) -> Option<String> {
        let person = match approver {
            Ok(person) => person,
            Err(reason) => return Some(reason.clone()),
        };
        let now = self.judge.act(&action.tool).and_then(|act| act.needs.as_deref());
        let mut rights = [action.right.as_deref(), now].into_iter();
        let missing = rights.find_map(|right| self.approvers.may(person, &action.tool, right).err())?;
        Some(format!("{} approved it and may not do it any more: {missing} is missing", person.name))
    }
}

/// Whoever approved a bundle last, as they are now: what is in the middle is what they picked. Or why there is nobody.
async fn approver(bundle: &Bundle, people: &dyn People) -> Result<Result<Person, String>, CaptureError> {
    let Some(name) = bundle.approved_by() else {
        return Ok(Err("nobody is on record who approved it".to_owned()));
    };
    let found = people.person(name).await;
    let found = found.map_err(|problem| CaptureError::People { name: name.to_owned(), problem })?;
    Ok(found.ok_or_else(|| format!("{name} approved it and is not there any more")))
}
