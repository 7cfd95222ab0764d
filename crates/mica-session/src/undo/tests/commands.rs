//! What commands change is found, as far as the limits go, and the rest is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::stage::{Stage, paths};
use crate::entry::RunId;
use crate::undo::{OnConflict, ScanLimits, UndoError};

#[test]
fn promise_8_what_a_command_changes_is_found_and_goes_back() {
    let stage = Stage::new();
    stage.write("src/a", "one");
    stage.write("src/b", "two");
    stage.write("gone", "gone");
    let at_first = stage.snapshot();
    let ended = stage.command("r1", || {
        fs::write(stage.path("src/a"), "ONE").unwrap();
        fs::rename(stage.path("src/b"), stage.path("moved")).unwrap();
        fs::remove_file(stage.path("gone")).unwrap();
    });
    assert_eq!(paths(ended.changed), ["gone", "moved", "src/a", "src/b"]);
    assert_eq!((ended.not_kept.len(), ended.incomplete), (0, false));
    stage.undone(None);
    assert_eq!(stage.snapshot(), at_first);
}

#[test]
fn promise_8_a_file_of_the_same_size_in_the_same_tick_is_seen() {
    let stage = Stage::new();
    stage.write("a", "0");
    for n in 1..40 {
        let text = (n % 10).to_string();
        let ended = stage.command(&format!("run-{n}"), || fs::write(stage.path("a"), &text).unwrap());
        assert_eq!(paths(ended.changed), ["a"], "time {n}");
    }
    stage.undone(Some("run-1"));
    assert_eq!(stage.text("a"), "0");
}

#[test]
fn promise_8_what_people_change_between_commands_belongs_to_no_run() {
    let stage = Stage::new();
    stage.write("a", "one");
    assert!(stage.command("r1", || {}).changed.is_empty());
    stage.write("a", "by hand");
    stage.write("mine", "by hand");
    let ended = stage.command("r2", || fs::write(stage.path("b"), "b").unwrap());
    assert_eq!(paths(ended.changed), ["b"]);
    assert_eq!(stage.undone(None), ["b"]);
    assert_eq!((stage.text("a"), stage.text("mine")), ("by hand".into(), "by hand".into()));
}

#[test]
fn promise_8_what_is_not_kept_is_told_and_the_rest_goes_back() {
    let stage =
        Stage::with(ScanLimits { file: 1_000, ignored_file: 10, ignored_total: 14, ..ScanLimits::default() });
    stage.write("large", &"x".repeat(2_000));
    stage.write("small", "one");
    stage.write(".gitignore", "*.local\ntarget\n");
    stage.write("key.local", "precious");
    stage.write("second.local", "no room");
    stage.write("big.local", "more than ten bytes");
    stage.write("target/made", "made");
    stage.write("node_modules/x/index.js", "made");
    stage.write(".git/HEAD", "ref");
    let ended = stage.command("r1", || {
        for path in ["large", "small", "key.local", "second.local", "big.local"] {
            fs::remove_file(stage.path(path)).unwrap();
        }
        fs::write(stage.path("target/made"), "again").unwrap();
        fs::write(stage.path(".git/HEAD"), "other").unwrap();
        fs::remove_dir_all(stage.path("node_modules")).unwrap();
    });
    let all = ["big.local", "key.local", "large", "node_modules", "second.local", "small"];
    assert_eq!(paths(ended.changed), all);
    let lost = paths(ended.not_kept);
    assert_eq!(lost.len(), 4, "{lost:?}");
    assert!(["big.local", "large", "node_modules"].iter().all(|path| lost.contains(&(*path).to_owned())));
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert_eq!(paths(plan.lost.iter().map(|lost| lost.path.0.clone())), lost);
    stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
    assert_eq!(stage.text("small"), "one");
    assert_eq!(stage.text("target/made"), "again", "what tools make is left alone");
    assert_eq!(stage.text(".git/HEAD"), "other");
}

#[test]
fn promise_8_a_huge_file_that_grew_is_a_conflict_only_when_it_changed_again() {
    let stage = Stage::with(ScanLimits { file: 1_000, ..ScanLimits::default() });
    stage.write("log", "short");
    stage.command("r1", || fs::write(stage.path("log"), "x".repeat(5_000)).unwrap());
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert_eq!((plan.steps.len(), plan.conflicts.len()), (1, 0));
    stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
    assert_eq!(stage.text("log"), "short");
    stage.redone();
    assert_eq!(stage.text("log").len(), 5_000, "what undo found was kept by it");
}

#[test]
fn promise_8_a_scan_over_its_bounds_says_so_and_takes_nothing_for_deleted() {
    let stage = Stage::with(ScanLimits { entries: 20, ..ScanLimits::default() });
    for n in 0..10 {
        for m in 0..10 {
            stage.write(&format!("d{n}/f{m}"), "x");
        }
    }
    let ended = stage.command("r1", || {});
    assert!(ended.incomplete);
    assert!(ended.changed.is_empty(), "{:?}", ended.changed);
}

#[test]
fn promise_8_a_scan_without_time_keeps_what_it_can_the_next_time() {
    let mut stage = Stage::with(ScanLimits { keeping: Duration::ZERO, ..ScanLimits::default() });
    stage.write("d1/f1", "x");
    let ended = stage.command("r2", || fs::write(stage.path("d1/f1"), "y").unwrap());
    assert_eq!(paths(ended.not_kept), ["d1/f1"]);
    stage.limits = ScanLimits::default();
    stage.restart();
    let ended = stage.command("r3", || fs::write(stage.path("d1/f1"), "z").unwrap());
    assert!(ended.not_kept.is_empty());
    stage.undone(None);
    assert_eq!(stage.text("d1/f1"), "y");
}

#[test]
fn promise_8_what_is_ignored_from_now_on_is_not_taken_for_deleted() {
    let stage = Stage::new();
    stage.write("dist/a", "a");
    stage.write("cache/b", "b");
    let ended = stage.command("r1", || {
        fs::write(stage.path(".gitignore"), "dist\n").unwrap();
        fs::write(stage.path("cache/CACHEDIR.TAG"), "").unwrap();
    });
    assert_eq!(paths(ended.changed), [".gitignore"]);
    let ended = stage.command("r2", || fs::remove_file(stage.path(".gitignore")).unwrap());
    assert_eq!(paths(ended.changed), [".gitignore"]);
    assert!(matches!(stage.undo.plan_undo(Some("r1"), &[]), Err(UndoError::Nothing(_))));
}

#[test]
fn promise_8_a_command_in_the_background_is_recorded_with_tools_beside_it() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.write("b", "0");
    let at_first = stage.snapshot();
    let run = RunId::from("r1");
    stage.undo.run_begins(&run);
    stage.undo.command_begins(&run, "server").unwrap();
    fs::write(stage.path("a"), "1").unwrap();
    // A tool edits what the command wrote before, and something else.
    stage.edit("sub-run", "a", "2");
    stage.edit("sub-run", "b", "1");
    stage.undo.run_ended(&run).unwrap();
    let second = RunId::from("r2");
    let before_second = stage.snapshot();
    stage.undo.run_begins(&second);
    stage.command("r2", || fs::write(stage.path("c"), "c").unwrap());
    fs::write(stage.path("late"), "from the server").unwrap();
    stage.undo.run_ended(&second).unwrap();
    let ended = stage.undo.command_ended("server").unwrap();
    assert!(ended.changed.is_empty(), "it was recorded when the run ended: {:?}", ended.changed);
    let runs = stage.undo.runs().unwrap();
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["r2", "r1"], "what a run began belongs to it");
    stage.undone(Some("r2"));
    assert_eq!(stage.snapshot(), before_second);
    stage.undone(None);
    assert_eq!(stage.snapshot(), at_first);
}

#[test]
fn promise_8_undoing_while_a_command_runs_is_not_taken_for_its_doing() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.edit("r1", "a", "1");
    let run = RunId::from("r2");
    stage.undo.command_begins(&run, "server").unwrap();
    stage.undone(Some("r1"));
    assert!(stage.undo.command_ended("server").unwrap().changed.is_empty());
    stage.redone();
    assert_eq!(stage.text("a"), "1");
}

#[test]
fn promise_8_a_command_that_was_cut_off_with_its_process_is_recorded_by_the_next() {
    let mut stage = Stage::new();
    stage.write("a", "one");
    let at_first = stage.snapshot();
    stage.undo.command_begins(&RunId::from("r1"), "c1").unwrap();
    fs::write(stage.path("a"), "two").unwrap();
    fs::write(stage.path("b"), "new").unwrap();
    stage.restart();
    assert_eq!(stage.undo.runs().unwrap()[0].changes.len(), 2);
    stage.undone(None);
    assert_eq!(stage.snapshot(), at_first);
    stage.restart();
    assert!(matches!(stage.undo.plan_undo(None, &[]), Err(UndoError::Nothing(_))), "recorded once");
}

#[test]
fn promise_8_what_undo_removed_is_not_taken_for_the_doing_of_a_command_that_was_cut_off() {
    let mut stage = Stage::new();
    stage.write("a", "one");
    stage.command("r1", || fs::write(stage.path("b"), "b").unwrap());
    stage.undone(None);
    stage.undo.command_begins(&RunId::from("r2"), "c2").unwrap();
    fs::write(stage.path("c"), "c").unwrap();
    stage.restart();
    let runs = stage.undo.runs().unwrap();
    let changed = runs[0].changes.iter().map(|change| change.path.0.clone());
    assert_eq!((runs[0].id.as_str(), paths(changed)), ("r2", vec!["c".to_owned()]));
}

#[test]
fn promise_8_what_tools_change_where_no_scan_looks_is_theirs_alone() {
    let stage = Stage::new();
    for path in ["node_modules/x", ".git/config", "a"] {
        stage.write(path, "0");
    }
    stage.undo.command_begins(&RunId::from("r0"), "server").unwrap();
    for path in ["node_modules/x", ".git/config", "a"] {
        stage.edit("r1", path, "1");
    }
    assert!(stage.undo.command_ended("server").unwrap().changed.is_empty());
    assert_eq!(stage.undone(None), [".git/config", "a", "node_modules/x"]);
    for path in ["node_modules/x", ".git/config", "a"] {
        assert_eq!(stage.text(path), "0", "{path}");
    }
}

#[test]
fn promise_8_a_program_that_keeps_its_data_in_the_project_does_not_see_itself() {
    let stage = Stage::new();
    let data = stage.path("home/undo");
    fs::create_dir_all(&data).unwrap();
    fs::write(stage.path("a"), "a").unwrap();
    let undo = super::Undo::new(&data, &stage.path(""), jiff::Timestamp::now).unwrap();
    undo.command_begins(&RunId::from("r1"), "c1").unwrap();
    assert!(undo.command_ended("c1").unwrap().changed.is_empty());
}

#[test]
fn promise_8_what_is_done_in_a_folder_that_is_left_out_from_now_on_is_found() {
    let stage = Stage::with(ScanLimits { file: 1_000, ..ScanLimits::default() });
    for path in ["dist/changed", "dist/same", "cache/sub/gone"] {
        stage.write(path, "0");
    }
    stage.write("cache/large", &"x".repeat(2_000));
    let ended = stage.command("r1", || {
        fs::write(stage.path(".gitignore"), "dist\n").unwrap();
        fs::write(stage.path("dist/changed"), "1").unwrap();
        fs::write(stage.path("cache/CACHEDIR.TAG"), "").unwrap();
        fs::remove_dir_all(stage.path("cache/sub")).unwrap();
        fs::remove_file(stage.path("cache/large")).unwrap();
    });
    let all = [".gitignore", "cache/large", "cache/sub", "cache/sub/gone", "dist/changed"];
    assert_eq!(paths(ended.changed), all);
    assert_eq!(paths(ended.not_kept), ["cache/large"]);
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
    assert_eq!((stage.text("dist/changed"), stage.text("cache/sub/gone")), ("0".into(), "0".into()));
}

#[test]
fn promise_8_a_folder_that_a_command_closed_is_opened_again() {
    let stage = Stage::new();
    stage.write("folder/x", "0");
    stage.write("a", "0");
    let at_first = stage.snapshot();
    stage.command("r1", || {
        fs::write(stage.path("a"), "1").unwrap();
        fs::set_permissions(stage.path("folder"), fs::Permissions::from_mode(0o000)).unwrap();
    });
    assert_eq!(stage.undone(None), ["a", "folder"]);
    assert_eq!(stage.snapshot(), at_first);
}

#[test]
fn promise_8_what_could_not_be_kept_once_is_kept_the_next_time() {
    let stage = Stage::new();
    // Long after everything that is written: no file is read again for having changed just now.
    stage.now(1_000_000_000);
    stage.command("r0", || {});
    stage.write("a", "0");
    let contents = stage.store("contents");
    fs::write(&contents, "in the way").unwrap();
    stage.command("r1", || {});
    fs::remove_file(&contents).unwrap();
    let ended = stage.command("r2", || fs::write(stage.path("a"), "1").unwrap());
    assert_eq!((paths(ended.changed), ended.not_kept.len()), (vec!["a".to_owned()], 0));
    stage.undone(None);
    assert_eq!(stage.text("a"), "0");
}

/// Run `r1` starts a server, and ends while that goes on.
fn with_a_server(stage: &Stage) {
    let run = RunId::from("r1");
    stage.undo.run_begins(&run);
    stage.undo.command_begins(&run, "server").unwrap();
    fs::write(stage.path("made"), "by the server").unwrap();
    stage.undo.run_ended(&run).unwrap();
}

#[test]
fn promise_8_what_changes_between_runs_while_a_command_goes_on_may_be_a_persons() {
    let stage = Stage::new();
    stage.write("b.js", "0");
    stage.write("c.js", "0");
    with_a_server(&stage);
    stage.write("b.js", "by hand");
    // Also when the next run looks first, and when the server ends.
    let second = RunId::from("r2");
    stage.undo.run_begins(&second);
    stage.command("r2", || fs::write(stage.path("two"), "2").unwrap());
    stage.undo.run_ended(&second).unwrap();
    stage.write("c.js", "by hand");
    stage.undo.command_ended("server").unwrap();
    for (run, steps, conflicts) in
        [("r2", &["two"][..], &["c.js"][..]), ("r1", &["made", "two"], &["b.js", "c.js"])]
    {
        let plan = stage.undo.plan_undo(Some(run), &[]).unwrap();
        assert_eq!(paths(plan.steps.iter().map(|step| step.path.0.clone())), steps, "{run}");
        assert_eq!(paths(plan.conflicts.iter().map(|found| found.step.path.0.clone())), conflicts, "{run}");
    }
}

#[test]
fn promise_8_an_edit_by_hand_beside_a_server_is_a_conflict() {
    let stage = Stage::new();
    stage.write("b.js", "0");
    with_a_server(&stage);
    stage.write("b.js", "by hand");
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert_eq!(paths(plan.steps.iter().map(|step| step.path.0.clone())), ["made"]);
    assert_eq!(paths(plan.conflicts.iter().map(|conflict| conflict.step.path.0.clone())), ["b.js"]);
    assert_eq!(stage.undo.content(&plan.conflicts[0].left).unwrap().unwrap(), b"0");
    stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap_err();
    stage.undo.carry_out(&plan, OnConflict::Force).unwrap();
    assert_eq!(stage.text("b.js"), "0");
    stage.redone();
    assert_eq!(stage.text("b.js"), "by hand");
}

#[test]
fn promise_8_what_a_server_writes_after_an_undo_leaves_the_redo() {
    let stage = Stage::new();
    stage.write("a", "0");
    with_a_server(&stage);
    stage.edit("r2", "a", "1");
    stage.undo.run_ended(&RunId::from("r2")).unwrap();
    stage.undone(Some("r2"));
    // The next run looks, and the server wrote during it.
    let third = RunId::from("r3");
    stage.undo.run_begins(&third);
    fs::write(stage.path("server.log"), "line").unwrap();
    stage.undo.run_ended(&third).unwrap();
    stage.redone();
    assert_eq!((stage.text("a"), stage.text("server.log")), ("1".into(), "line".into()));
}

#[test]
fn promise_8_a_process_that_cannot_record_what_a_command_did_loses_nothing() {
    let mut stage = Stage::new();
    stage.write("a", "one");
    stage.undo.command_begins(&RunId::from("r1"), "c1").unwrap();
    fs::write(stage.path("a"), "two").unwrap();
    // It ends between looking and writing that down.
    let lock = stage.store("log.jsonl.lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    stage.undo.command_ended("c1").unwrap_err();
    fs::remove_dir(&lock).unwrap();
    stage.restart();
    assert_eq!(stage.undone(None), ["a"]);
    assert_eq!(stage.text("a"), "one");
}

#[test]
fn promise_8_another_process_keeps_what_an_open_command_began_with() {
    let mut stage = Stage::new();
    stage.write("a", "one");
    let at_first = stage.snapshot();
    stage.undo.command_begins(&RunId::from("r1"), "c1").unwrap();
    fs::write(stage.path("a"), "two").unwrap();
    let other = stage.another();
    other.command_begins(&RunId::from("r2"), "c2").unwrap();
    fs::write(stage.path("b"), "b").unwrap();
    other.command_ended("c2").unwrap();
    drop(other);
    stage.restart();
    assert_eq!(stage.undone(Some("r1")), ["a", "b"]);
    assert_eq!(stage.snapshot(), at_first);
}

#[test]
fn promise_8_what_another_process_recorded_is_not_ones_own() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.write("b", "0");
    let (run, other) = (RunId::from("r1"), stage.another());
    stage.undo.command_begins(&run, "server").unwrap();
    stage.edit_with(&other, "r2", "new/a", "1");
    stage.edit_with(&other, "r2", "b", "1");
    // A tool touches one of them, and a second command looks.
    stage.edit("r1", "b", "2");
    stage.undo.command_begins(&run, "second").unwrap();
    let runs = stage.undo.runs().unwrap();
    let of = |id: &str| {
        let run = runs.iter().find(|run| run.id.as_str() == id).unwrap();
        paths(run.changes.iter().map(|change| change.path.0.clone()))
    };
    assert_eq!(
        (of("r1"), of("r2")),
        (vec!["b".to_owned()], ["b", "new", "new/a"].map(str::to_owned).to_vec())
    );
    let first = runs.iter().find(|run| run.id.as_str() == "r1").unwrap();
    assert_eq!(stage.undo.content(&first.changes[0].before).unwrap().unwrap(), b"1");
}
