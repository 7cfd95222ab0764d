//! What stands in the way of undoing: it is said, it is never lost, and it does not keep the rest from going back.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::stage::{Stage, paths};
use crate::entry::RunId;
use crate::undo::{KEEP_PRESENT, OnConflict, Plan, UndoError};

/// The plan of the last run's undo: its steps, its conflicts, and those of them that are blocked.
fn planned(stage: &Stage) -> (Plan, [Vec<String>; 3]) {
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    let steps = paths(plan.steps.iter().map(|step| step.path.0.clone()));
    let conflicts = |blocked: bool| {
        let found = plan.conflicts.iter().filter(|found| !blocked || found.blocked);
        paths(found.map(|found| found.step.path.0.clone()))
    };
    let all = [steps, conflicts(false), conflicts(true)];
    (plan, all)
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn promise_8_what_nobody_may_read_does_not_keep_the_rest_from_going_back() {
    let stage = Stage::new();
    for path in ["a", "file", "folder/x"] {
        stage.write(path, "0");
    }
    stage.command("r1", || {
        for path in ["a", "file", "folder/x"] {
            fs::write(stage.path(path), "1").unwrap();
        }
    });
    for path in ["file", "folder"] {
        fs::set_permissions(stage.path(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    if fs::read(stage.path("file")).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let (plan, found) = planned(&stage);
    assert_eq!(found, [named(&["a"]), named(&["file", "folder/x"]), named(&["file", "folder/x"])]);
    stage.undo.carry_out(&plan, OnConflict::Force).unwrap_err();
    stage.undo.carry_out(&plan, OnConflict::Skip).unwrap();
    assert_eq!(stage.text("a"), "0");
    fs::set_permissions(stage.path("folder"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(stage.text("folder/x"), "1");
}

#[test]
fn promise_8_the_place_of_the_settings_that_is_held_for_a_command_is_nobodys_doing() {
    let stage = Stage::new();
    stage.write("a", "0");
    let (run, held) = (RunId::from("r1"), stage.path(".mica"));
    stage.undo.run_begins(&run);
    stage.undo.command_begins(&run, "server").unwrap();
    fs::create_dir(&held).unwrap();
    fs::create_dir_all(stage.path(".git/hooks")).unwrap();
    fs::write(stage.path("a"), "1").unwrap();
    stage.undo.run_ended(&run).unwrap();
    assert_eq!(stage.undone(None), ["a"]);
    assert!(held.is_dir() && stage.path(".git/hooks").is_dir());
    fs::remove_dir(&held).unwrap();
    assert!(stage.undo.command_ended("server").unwrap().changed.is_empty());
    // What a tool writes there goes back, and the folder stays.
    stage.edit("r2", ".mica/x", "1");
    assert_eq!(stage.undone(None), [".mica/x"]);
    assert!(held.is_dir());
}

#[test]
fn promise_8_a_folder_that_somebody_made_is_not_forced_away() {
    let mut stage = Stage::new();
    stage.write("a", "0");
    stage.write("b", "0");
    stage.edit("r1", "a", "1");
    stage.edit("r1", "b", "1");
    fs::remove_file(stage.path("a")).unwrap();
    stage.write("a/mine", "mine");
    let (plan, found) = planned(&stage);
    assert_eq!(found, [named(&["b"]), named(&["a"]), named(&["a"])]);
    assert!(matches!(stage.undo.carry_out(&plan, OnConflict::Force), Err(UndoError::Conflicts { count: 1 })));
    assert_eq!((stage.text("a/mine"), stage.text("b")), ("mine".into(), "1".into()), "all or nothing");

    // Somebody makes one while a restore was cut off: the rest of it can be finished.
    fs::remove_dir_all(stage.path("a")).unwrap();
    stage.write("a", "1");
    stage.command("r2", || {
        fs::remove_file(stage.path("a")).unwrap();
        fs::create_dir(stage.path("a")).unwrap();
        fs::write(stage.path("b"), "2").unwrap();
    });
    stage.undone(None);
    stage.cut_last_line();
    fs::remove_file(stage.path("a")).unwrap();
    stage.write("a/mine", "mine");
    stage.write("b", "2");
    stage.restart();
    let (plan, found) = planned(&stage);
    assert!(plan.continues);
    assert_eq!(found, [named(&["b"]), named(&["a"]), named(&["a"])]);
    stage.undo.carry_out(&plan, OnConflict::Force).unwrap_err();
    stage.undo.carry_out(&plan, OnConflict::Skip).unwrap();
    assert_eq!((stage.text("a/mine"), stage.text("b")), ("mine".into(), "1".into()));
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert!(!plan.continues, "it is finished");
}

#[test]
fn promise_8_what_is_too_large_to_be_kept_is_not_forced_away() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.edit("r1", "a", "1");
    stage.edit("r1", "d/c", "1");
    fs::File::create(stage.path("a")).unwrap().set_len(KEEP_PRESENT + 1).unwrap();
    let (plan, found) = planned(&stage);
    assert_eq!(found, [named(&["d", "d/c"]), named(&["a"]), named(&["a"])]);
    stage.undo.carry_out(&plan, OnConflict::Force).unwrap_err();
    assert_eq!(fs::metadata(stage.path("a")).unwrap().len(), KEEP_PRESENT + 1);
    assert_eq!(stage.text("d/c"), "1");
}

#[test]
fn promise_8_a_run_of_which_nothing_is_kept_does_not_bar_the_way() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.write("node_modules/x", "made");
    stage.edit("r1", "a", "1");
    stage.command("r2", || fs::remove_dir_all(stage.path("node_modules")).unwrap());
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert_eq!(paths(plan.steps.iter().map(|step| step.path.0.clone())), ["a"]);
    assert_eq!(paths(plan.lost.iter().map(|lost| lost.path.0.clone())), ["node_modules"], "it is told");
    stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
    assert_eq!(stage.text("a"), "0");
    // By its name it is meant, and says what it is.
    stage.redone();
    let plan = stage.undo.plan_undo(Some("r2"), &[]).unwrap();
    assert_eq!((plan.steps.len(), plan.lost.len()), (0, 1));
}
