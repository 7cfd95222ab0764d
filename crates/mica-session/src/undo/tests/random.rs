//! Fifty runs of tools, commands, people and undos at random: every point comes back as it was.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use fastrand::Rng;

use super::stage::{Snapshot, Stage, paths};
use crate::undo::OnConflict;

/// Something that was recorded: whose it is, what was there before, and what it touched.
struct Event {
    run: usize,
    before: Snapshot,
    touched: BTreeSet<PathBuf>,
}

fn differing(one: &Snapshot, other: &Snapshot) -> BTreeSet<PathBuf> {
    let all = one.keys().chain(other.keys());
    all.filter(|path| one.get(*path) != other.get(*path)).cloned().collect()
}

/// What restoring the state before a run comes to: each path that was touched since as it was before that, and the
/// others as they are.
fn expected(events: &[Event], run: usize, now: &Snapshot) -> Snapshot {
    let mut result = now.clone();
    let mut seen = BTreeSet::new();
    let first = events.iter().position(|event| event.run == run).unwrap();
    for event in &events[first..] {
        for path in &event.touched {
            if seen.insert(path.clone()) {
                match event.before.get(path) {
                    Some(snap) => result.insert(path.clone(), snap.clone()),
                    None => result.remove(path),
                };
            }
        }
    }
    result
}

fn name(rng: &mut Rng) -> String {
    let parts = ["a", "b", "c", "d"];
    let depth = rng.usize(1..4);
    (0..depth).map(|_| parts[rng.usize(..4)]).collect::<Vec<_>>().join("/")
}

fn text(rng: &mut Rng) -> String {
    // Of few sizes, so that sizes alone tell nothing.
    let length = [0, 3, 3, 3, 200][rng.usize(..5)];
    (0..length).map(|_| rng.alphanumeric()).collect()
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Makes room for something at a path: whatever is in the way goes.
fn clear(stage: &Stage, path: &str) {
    let mut at = PathBuf::new();
    for step in Path::new(path).parent().into_iter().flat_map(Path::components) {
        at.push(step);
        let here = stage.path(at.to_str().unwrap());
        if fs::symlink_metadata(&here).is_ok_and(|facts| !facts.is_dir()) {
            remove(&here);
        }
    }
    let whole = stage.path(path);
    fs::create_dir_all(whole.parent().unwrap()).unwrap();
    remove(&whole);
}

/// What a shell might do.
fn shell(stage: &Stage, rng: &mut Rng) {
    for _ in 0..rng.usize(1..5) {
        let (one, two) = (name(rng), name(rng));
        let at = stage.path(&one);
        match rng.u8(..9) {
            0 | 1 => {
                clear(stage, &one);
                fs::write(at, text(rng)).unwrap();
            }
            2 => remove(&at),
            3 => {
                clear(stage, &one);
                fs::create_dir_all(at).unwrap();
            }
            4 if !two.starts_with(&one) && !one.starts_with(&two) && fs::symlink_metadata(&at).is_ok() => {
                clear(stage, &two);
                if fs::symlink_metadata(&at).is_ok() {
                    fs::rename(at, stage.path(&two)).unwrap();
                }
            }
            5 => {
                clear(stage, &one);
                symlink(text(rng) + "x", at).unwrap();
            }
            6 if fs::symlink_metadata(&at).is_ok_and(|facts| facts.is_file()) => {
                let mode = [0o644, 0o600, 0o755][rng.usize(..3)];
                fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
            }
            7 if fs::symlink_metadata(&at).is_ok_and(|facts| facts.is_file()) => {
                // In place: the same file with other bytes.
                let mut bytes = fs::read(&at).unwrap();
                bytes.reverse();
                fs::write(at, bytes).unwrap();
            }
            _ => {}
        }
    }
}

/// What a file tool might do: write a file, in folders that it makes.
fn tool(stage: &Stage, run: &str, rng: &mut Rng) {
    let path = name(rng);
    let real = stage.path(&path);
    let plain = Path::new(&path).ancestors().skip(1).all(|folder| {
        let facts = fs::symlink_metadata(stage.path(folder.to_str().unwrap()));
        facts.map_or(true, |facts| facts.is_dir())
    });
    let free = fs::symlink_metadata(&real).map_or(true, |facts| facts.is_file());
    if plain && free {
        stage.edit(run, &path, &text(rng));
    }
}

/// What a person might do to a file between runs.
fn person(stage: &Stage, rng: &mut Rng, by_hand: &mut BTreeSet<PathBuf>) {
    stage.write("hand/notes", &text(rng));
    let path = name(rng);
    let plain = Path::new(&path).ancestors().all(|at| {
        let facts = fs::symlink_metadata(stage.path(at.to_str().unwrap()));
        facts.is_ok_and(|facts| !facts.is_symlink())
    });
    if plain && rng.bool() && stage.path(&path).is_file() {
        fs::write(stage.path(&path), text(rng)).unwrap();
        by_hand.insert(PathBuf::from(path));
    }
}

fn run_with(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut stage = Stage::new();
    stage.write("hand/notes", "by hand");
    let mut events: Vec<Event> = Vec::new();
    let mut by_hand = BTreeSet::new();
    for run in 0..50 {
        person(&stage, &mut rng, &mut by_hand);
        if rng.u8(..6) == 0 {
            stage.restart();
        }
        let id = format!("run-{run:03}");
        for _ in 0..rng.usize(1..4) {
            let before = stage.snapshot();
            if rng.bool() {
                tool(&stage, &id, &mut rng);
            } else {
                stage.command(&id, || shell(&stage, &mut rng));
            }
            let touched = differing(&before, &stage.snapshot());
            if !touched.is_empty() {
                by_hand.retain(|path| !touched.contains(path));
                events.push(Event { run, before, touched });
            }
        }
        // Now and then somebody undoes, and perhaps redoes, before the next run.
        if rng.u8(..5) == 0 {
            let before = stage.snapshot();
            if let Ok(plan) = stage.undo.plan_undo(None, &[]) {
                stage.undo.carry_out(&plan, OnConflict::Force).unwrap();
                let between = stage.snapshot();
                events.push(Event {
                    run: 1_000 + run,
                    touched: differing(&before, &between),
                    before: before.clone(),
                });
                if rng.bool() {
                    stage.redone();
                    let now = stage.snapshot();
                    assert_eq!(now, before, "seed {seed}: redo after run {run}");
                    events.push(Event {
                        run: 1_000 + run,
                        touched: differing(&between, &now),
                        before: between,
                    });
                }
            }
        }
    }
    // What people changed last would stand against everything; a tool takes note of it.
    for path in by_hand {
        if stage.path(path.to_str().unwrap()).is_file() {
            let before = stage.snapshot();
            stage.edit("run-last", path.to_str().unwrap(), "noted");
            events.push(Event { run: 2_000, touched: BTreeSet::from([path]), before });
        }
    }
    let last = stage.snapshot();
    let listed: BTreeSet<String> =
        stage.undo.runs().unwrap().into_iter().map(|run| run.id.as_str().to_owned()).collect();
    for run in 0..50 {
        let id = format!("run-{run:03}");
        if !listed.contains(&id) {
            continue;
        }
        let Ok(plan) = stage.undo.plan_undo(Some(&id), &[]) else {
            assert_eq!(expected(&events, run, &last), last, "seed {seed}: nothing to undo for {id}");
            continue;
        };
        assert!(plan.lost.is_empty() && plan.conflicts.is_empty(), "seed {seed}: {id}: {plan:#?}");
        stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
        let (now, wanted) = (stage.snapshot(), expected(&events, run, &last));
        assert_eq!(now, wanted, "seed {seed}: before {id}: {:?}", paths(differing(&now, &wanted)));
        stage.redone();
        let now = stage.snapshot();
        assert_eq!(now, last, "seed {seed}: redo of {id}: {:?}", paths(differing(&now, &last)));
    }
    // A person changes what the last change left: a conflict, and nothing is touched.
    let Ok(plan) = stage.undo.plan_undo(Some("run-000"), &[]) else { return };
    let file = plan.steps.iter().find(|step| matches!(step.from, crate::undo::State::File(_)));
    let Some(file) = file.map(|step| step.path.0.clone()) else { return };
    fs::write(stage.path(file.to_str().unwrap()), "by hand, and not to be lost").unwrap();
    let by_hand = stage.snapshot();
    let plan = stage.undo.plan_undo(Some("run-000"), &[]).unwrap();
    let conflicts = paths(plan.conflicts.iter().map(|conflict| conflict.step.path.0.clone()));
    assert_eq!(conflicts, paths([file]), "seed {seed}");
    assert!(stage.undo.carry_out(&plan, OnConflict::Refuse).is_err());
    assert_eq!(stage.snapshot(), by_hand, "seed {seed}: nothing is touched");
    stage.undo.carry_out(&plan, OnConflict::Force).unwrap();
    stage.redone();
    assert_eq!(stage.snapshot(), by_hand, "seed {seed}: and what was done by hand comes back");
}

#[test]
fn promise_8_fifty_random_runs_come_back_at_every_point() {
    for seed in 0..2 {
        run_with(seed);
    }
}
