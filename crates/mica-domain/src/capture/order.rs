//! The order in which actions are done: each after those it needs.

use std::collections::BTreeMap;

use super::action::Action;
use super::error::CaptureError;

/// The order of actions, as places in the list: each behind all that it needs, otherwise as they were captured.
///
/// # Errors
/// [`CaptureError::Circle`]
pub fn order(actions: &[Action]) -> Result<Vec<usize>, CaptureError> {
    let places: BTreeMap<&str, usize> =
        actions.iter().enumerate().map(|(place, action)| (action.id.as_str(), place)).collect();
    let needs: Vec<Vec<usize>> = actions
        .iter()
        .map(|action| action.needs.iter().filter_map(|id| places.get(id.as_str()).copied()).collect())
        .collect();
    let mut done = vec![false; actions.len()];
    let mut order = Vec::with_capacity(actions.len());
    // A bundle has few actions: looking through them again costs less than it would to be clever.
    loop {
        let is_done = |place: &usize| done.get(*place).copied().unwrap_or(false);
        let next =
            needs.iter().enumerate().find(|(place, needs)| !is_done(place) && needs.iter().all(is_done));
        let Some((place, _)) = next else { break };
        order.push(place);
        if let Some(done) = done.get_mut(place) {
            *done = true;
        }
    }
    if order.len() == actions.len() {
        return Ok(order);
    }
    let left = actions.iter().zip(&done).filter(|(_, done)| !**done);
    Err(CaptureError::Circle { actions: left.map(|(action, _)| action.id.clone()).collect() })
}
