//! Whatever is picked, fails or dies, the promises hold.

use super::*;

#[derive(Debug, Clone)]
struct Plan {
    /// For each action: its tool, what it is built on, whether it fails.
    actions: Vec<(usize, Option<prop::sample::Index>, bool)>,
    /// Rounds of picks: which actions, and where the processes die.
    rounds: Vec<(Vec<bool>, Vec<usize>)>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let action =
        (0..3usize, prop::option::weighted(0.6, any::<prop::sample::Index>()), prop::bool::weighted(0.2));
    let round =
        (prop::collection::vec(prop::bool::weighted(0.7), 7), prop::collection::vec(1..30usize, 0..3));
    (prop::collection::vec(action, 1..7), prop::collection::vec(round, 1..4))
        .prop_map(|(actions, rounds)| Plan { actions, rounds })
}

impl Plan {
    fn actions(&self) -> Vec<Action> {
        let made = self.actions.iter().enumerate().map(|(place, (tool, on, fails))| {
            let on = on.filter(|_| place > 0).map(|index| index.index(place) + 1);
            let mut action = action(place + 1, ["keyed", "same", "unsafe"][*tool], on);
            if *fails {
                action.args.insert("fail".to_owned(), json!(true));
            }
            action
        });
        made.collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_picked_fails_or_dies(plan in plans()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(keeps_its_promises(plan))?;
    }
}

async fn keeps_its_promises(plan: Plan) -> Result<(), TestCaseError> {
    let stage = stage(plan.actions()).await;
    let mut ever_picked = BTreeSet::new();
    for (picks, deaths) in &plan.rounds {
        let bundle = stage.applier.bundles.get("b").await.unwrap();
        let picked: Vec<&str> = bundle
            .actions
            .iter()
            .zip(picks)
            .filter(|(action, pick)| **pick && action.is_open())
            .map(|(action, _)| action.id.as_str())
            .collect();
        let has = |need: &String| {
            picked.contains(&need.as_str())
                || matches!(bundle.action(need).unwrap().status, Status::Done { .. })
        };
        let fits =
            !picked.is_empty() && picked.iter().all(|id| bundle.action(id).unwrap().needs.iter().all(has));
        let mut decided = false;
        for death in deaths.iter().map(|point| Faults::at(*point)).chain([Faults::none()]) {
            let process = process("p", &stage.world, &stage.records, &death);
            death
                .until_death(async {
                    process.resume("b", &Everybody).await.unwrap();
                    let now = process.bundles.get("b").await.unwrap();
                    decided |= now.trail.len() > bundle.trail.len();
                    if !decided {
                        let made = process.apply("b", &Picked::some(picked.clone()), &ann()).await;
                        assert_eq!(made.is_ok(), fits, "{made:?}");
                    }
                })
                .await;
        }
        if fits {
            ever_picked.extend(picked.iter().map(|id| (*id).to_owned()));
        }
        let after = stage.applier.bundles.get("b").await.unwrap();
        prop_assert_eq!(
            after.trail.len(),
            bundle.trail.len() + usize::from(fits),
            "decided once or not at all"
        );
        prop_assert!(after.lease.is_none());
        for action in &after.actions {
            let is_picked = ever_picked.contains(&action.id);
            prop_assert_eq!(action.status.is_final(), is_picked, "{}: {:?}", &action.id, &action.status);
        }
        check_effects(&stage.world, &after, "a random plan");
        check_order(&stage.world, &after)?;
    }
    Ok(())
}

/// Nothing is done before what it needs, nor with an id that does not exist.
fn check_order(world: &World, bundle: &Bundle) -> Result<(), TestCaseError> {
    let done = world.done();
    let first = |id: &str| done.iter().position(|done| done.key == format!("bundle/b/{id}"));
    for action in &bundle.actions {
        let Some(place) = first(&action.id) else { continue };
        for need in &action.needs {
            let before = first(need);
            prop_assert!(before.is_some_and(|before| before < place), "{} before {need}", action.id);
        }
    }
    for done in &done {
        prop_assert!(!done.args.to_string().contains("temp_"), "{:?}", done);
    }
    Ok(())
}
