//! Undo as a whole: tools, commands and people change a project, and every point of it comes back.

#![allow(clippy::disallowed_methods, reason = "tests play tools, commands and people")]

mod blocked;
mod commands;
mod random;
mod stage;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::*;
use stage::{Stage, paths};

#[test]
fn promise_8_an_edit_goes_and_comes_back_like_in_an_editor() {
    let stage = Stage::new();
    stage.write("a", "one");
    let at_first = stage.snapshot();
    stage.edit("r1", "a", "two");
    let after_one = stage.snapshot();
    stage.edit("r2", "new/deep/b", "b");
    stage.edit("r2", "a", "three");
    let after_two = stage.snapshot();

    assert_eq!(stage.undone(None), ["a", "new", "new/deep", "new/deep/b"]);
    assert_eq!(stage.snapshot(), after_one);
    assert_eq!(stage.undone(None), ["a"]);
    assert_eq!(stage.snapshot(), at_first);
    assert!(matches!(stage.undo.plan_undo(None, &[]), Err(UndoError::Nothing(_))));
    stage.redone();
    assert_eq!(stage.snapshot(), after_one);
    stage.redone();
    assert_eq!(stage.snapshot(), after_two);
    assert!(matches!(stage.undo.plan_redo(&[]), Err(UndoError::Nothing(_))));
    // All at once, by the first run's id, and in one step back.
    stage.undone(Some("r1"));
    assert_eq!(stage.snapshot(), at_first);
    stage.redone();
    assert_eq!(stage.snapshot(), after_two);
    // A new change ends what could be redone, and the run before it is still there.
    stage.undone(None);
    stage.edit("r3", "c", "c");
    assert!(matches!(stage.undo.plan_redo(&[]), Err(UndoError::Nothing(_))));
    assert_eq!(stage.undone(None), ["c"]);
    assert_eq!(stage.undone(None), ["a"]);
    assert_eq!(stage.snapshot(), at_first);
}

#[test]
fn promise_8_runs_are_listed_with_what_they_are() {
    let stage = Stage::new();
    stage.write("a", "one");
    stage.undo.about(Some("session-1"), Some("Please  make\nit two"));
    stage.edit("r1", "a", "two");
    stage.edit("r1", "a", "longer");
    let runs = stage.undo.runs().unwrap();
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(
        (run.id.as_str(), run.session.as_deref(), run.words.as_deref(), run.undone),
        ("r1", Some("session-1"), Some("Please make it two"), false)
    );
    let change = &run.changes[..];
    assert_eq!(change.len(), 1, "one file, from its first state to its last");
    assert_eq!((change[0].before.size(), change[0].after.size()), (3, 6));
    stage.undone(None);
    assert!(stage.undo.runs().unwrap()[0].undone);
}

#[test]
fn promise_8_what_somebody_else_changed_is_a_conflict_and_stays() {
    let stage = Stage::new();
    stage.write("a", "one");
    stage.write("b", "one");
    stage.edit("r1", "a", "two");
    stage.edit("r1", "b", "two");
    stage.write("a", "mine");
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert_eq!(plan.conflicts.len(), 1);
    assert_eq!(plan.conflicts[0].step.path.path(), Path::new("a"));
    assert_eq!(stage.undo.content(&plan.conflicts[0].left).unwrap().unwrap(), b"two");
    let refused = stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap_err();
    assert!(matches!(refused, UndoError::Conflicts { count: 1 }), "{refused}");
    assert_eq!((stage.text("a"), stage.text("b")), ("mine".into(), "two".into()), "all or nothing");

    let done = stage.undo.carry_out(&plan, OnConflict::Skip).unwrap();
    assert_eq!((done.restored.len(), done.skipped.len()), (1, 1));
    assert_eq!((stage.text("a"), stage.text("b")), ("mine".into(), "one".into()));
    stage.redone();
    assert_eq!((stage.text("a"), stage.text("b")), ("mine".into(), "two".into()));

    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    stage.undo.carry_out(&plan, OnConflict::Force).unwrap();
    assert_eq!((stage.text("a"), stage.text("b")), ("one".into(), "one".into()));
    stage.redone();
    assert_eq!((stage.text("a"), stage.text("b")), ("mine".into(), "two".into()), "what was mine is back");
}

#[test]
fn promise_8_one_file_goes_back_alone_and_further_each_time() {
    let stage = Stage::new();
    stage.write("a", "0");
    stage.write("b", "0");
    for n in ["1", "2"] {
        stage.edit(&format!("r{n}"), "a", n);
        stage.edit(&format!("r{n}"), "b", n);
    }
    let only = |stage: &Stage| {
        let plan = stage.undo.plan_undo(None, &[PathBuf::from("a")]).unwrap();
        stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
        stage.text("a") + &stage.text("b")
    };
    assert_eq!(only(&stage), "12");
    assert_eq!(only(&stage), "02");
    assert!(stage.undo.plan_undo(None, &[PathBuf::from("a")]).is_err());
    stage.redone();
    assert_eq!(stage.text("a") + &stage.text("b"), "12");
    // The runs are still in force for the rest.
    assert_eq!(stage.undone(None), ["b"]);
    assert_eq!(stage.text("a") + &stage.text("b"), "11");
    let error = stage.undo.plan_undo(None, &[PathBuf::from("../outside")]).unwrap_err();
    assert!(matches!(error, UndoError::Outside { .. }), "{error}");
}

#[test]
fn promise_8_a_process_that_is_killed_between_word_and_deed_leaves_nothing_that_cannot_be_undone() {
    // Announced and not made; announced and made; and then a person edits.
    for (write, by_hand) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut stage = Stage::new();
        stage.write("a", "one");
        stage.announce("r1", "a", "two");
        if write {
            stage.write("a", "two");
        }
        stage.restart();
        if by_hand {
            stage.write("a", "mine");
        }
        match stage.undo.plan_undo(None, &[]) {
            Ok(plan) if by_hand => assert_eq!(plan.conflicts.len(), 1),
            Ok(plan) => {
                assert!(write && plan.conflicts.is_empty());
                stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
                assert_eq!(stage.text("a"), "one");
                stage.redone();
                assert_eq!(stage.text("a"), "two");
            }
            Err(error) => assert!(!write && !by_hand, "{error}"),
        }
    }
}

#[test]
fn promise_8_a_restore_that_was_cut_off_is_finished_by_the_next() {
    let mut stage = Stage::new();
    stage.write("a", "one");
    stage.write("dir/x", "x");
    let at_first = stage.snapshot();
    stage.command("r1", || {
        fs::write(stage.path("a"), "two").unwrap();
        fs::write(stage.path("new"), "new").unwrap();
        fs::remove_dir_all(stage.path("dir")).unwrap();
        fs::write(stage.path("dir"), "now a file").unwrap();
    });
    stage.undone(None);
    // As if it was killed before "a" and "dir" were done: the last line is not there, and they are as they were, or
    // half way.
    stage.cut_last_line();
    stage.write("a", "two");
    fs::remove_dir_all(stage.path("dir")).unwrap();
    stage.restart();
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert!(plan.continues && plan.conflicts.is_empty(), "{plan:?}");
    stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
    assert_eq!(stage.snapshot(), at_first);
    assert!(matches!(stage.undo.plan_undo(None, &[]), Err(UndoError::Nothing(_))));
    stage.redone();
    assert_eq!(stage.text("dir"), "now a file");
    // And when somebody edits before it is finished, that is not lost either.
    stage.undone(None);
    stage.cut_last_line();
    stage.write("a", "mine");
    stage.restart();
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert_eq!((plan.continues, plan.conflicts.len()), (true, 1));
    stage.undo.carry_out(&plan, OnConflict::Force).unwrap();
    assert_eq!(stage.snapshot(), at_first);
    stage.redone();
    assert_eq!(stage.text("a"), "mine");
    stage.redone();
    assert_eq!((stage.text("a"), stage.text("dir")), ("two".into(), "now a file".into()));
}

#[test]
fn promise_8_room_that_another_process_made_is_noticed() {
    let stage = Stage::new();
    stage.write("a", "one");
    stage.write("b", "one");
    stage.edit("r0", "b", "two");
    stage.command("r1", || {});
    stage.undo.run_ended(&RunId::from("r1")).unwrap();
    let tiny = UndoRetention { bytes: Some(1), ..UndoRetention::default() };
    stage.another().prune(&tiny, Timestamp::now()).unwrap();
    let ended = stage.command("r2", || fs::write(stage.path("a"), "two").unwrap());
    assert!(ended.not_kept.is_empty());
    stage.undone(Some("r2"));
    assert_eq!(stage.text("a"), "one");
}

#[test]
fn promise_8_links_are_restored_and_never_followed() {
    let stage = Stage::new();
    let outside = stage.outside("secret", "secret");
    stage.write("a", "one");
    symlink("a", stage.path("link")).unwrap();
    stage.write("d/f", "f");
    let at_first = stage.snapshot();
    stage.command("r1", || {
        fs::remove_file(stage.path("link")).unwrap();
        symlink(&outside, stage.path("link")).unwrap();
        fs::remove_dir_all(stage.path("d")).unwrap();
        symlink(outside.parent().unwrap(), stage.path("d")).unwrap();
    });
    stage.undone(None);
    assert_eq!(stage.snapshot(), at_first);
    stage.redone();
    assert_eq!(fs::read_link(stage.path("link")).unwrap(), outside);
    // A person puts a link where a folder was: nothing is written through it.
    stage.undone(None);
    stage.edit("r2", "d/f", "changed");
    fs::remove_dir_all(stage.path("d")).unwrap();
    symlink(outside.parent().unwrap(), stage.path("d")).unwrap();
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert_eq!(plan.conflicts.len(), 1);
    assert!(stage.undo.carry_out(&plan, OnConflict::Refuse).is_err());
    stage.undo.carry_out(&plan, OnConflict::Force).unwrap();
    assert_eq!(stage.snapshot(), at_first);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.parent().unwrap()).unwrap().count(), 1, "nothing was put there");
}

#[test]
fn promise_8_modes_and_folders_come_back() {
    let stage = Stage::new();
    stage.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(stage.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    stage.write("secret", "s");
    fs::set_permissions(stage.path("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(stage.path("empty")).unwrap();
    fs::set_permissions(stage.path("empty"), fs::Permissions::from_mode(0o750)).unwrap();
    let at_first = stage.snapshot();
    stage.edit("r1", "secret", "t");
    stage.command("r1", || {
        fs::set_permissions(stage.path("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(stage.path("empty"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::remove_file(stage.path("secret")).unwrap();
        fs::create_dir_all(stage.path("x/y")).unwrap();
    });
    let after = stage.snapshot();
    stage.undone(None);
    assert_eq!(stage.snapshot(), at_first);
    stage.redone();
    assert_eq!(stage.snapshot(), after);
    // Something of a person's is in a folder that a run made: the folder stays.
    stage.write("x/mine", "mine");
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    let done = stage.undo.carry_out(&plan, OnConflict::Refuse).unwrap();
    assert_eq!(paths(done.folders), ["x"]);
    assert_eq!(stage.text("x/mine"), "mine");
}

#[test]
fn promise_8_a_folder_that_holds_somebody_elses_file_gives_way_to_nothing() {
    let stage = Stage::new();
    stage.write("a", "one");
    stage.command("r1", || {
        fs::remove_file(stage.path("a")).unwrap();
        fs::create_dir(stage.path("a")).unwrap();
    });
    stage.write("a/mine", "mine");
    let plan = stage.undo.plan_undo(None, &[]).unwrap();
    assert!(plan.conflicts[0].blocked);
    assert!(stage.undo.carry_out(&plan, OnConflict::Force).is_err());
    assert_eq!(stage.text("a/mine"), "mine");
}

#[test]
fn promise_8_a_change_that_cannot_be_kept_is_refused() {
    let stage = Stage::new();
    stage.write("a", "one");
    // A file where the store should be: nothing can be written there.
    fs::remove_dir_all(&stage.data).ok();
    fs::write(&stage.data, "in the way").unwrap();
    let error = stage.undo.changing(Announced {
        run: &RunId::from("r1"),
        call: "c",
        path: &stage.path("a"),
        before: Some(b"one"),
        after: ContentHash::of(b"two"),
    });
    assert!(error.unwrap_err().to_string().starts_with("cannot make "));
    assert!(stage.undo.command_begins(&RunId::from("r1"), "c").is_err());
}

#[test]
fn promise_8_only_the_owner_can_read_what_is_kept() {
    let stage = Stage::new();
    stage.write("a", "one");
    stage.edit("r1", "a", "two");
    stage.command("r1", || fs::write(stage.path(".env"), "KEY=1").unwrap());
    let mut open = vec![stage.data.clone()];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let facts = fs::symlink_metadata(&path).unwrap();
        let expected = if facts.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(facts.permissions().mode() & 0o777, expected, "{}", path.display());
        seen += 1;
        if facts.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(seen > 8);
}

#[test]
fn promise_8_pruning_keeps_restores_right_and_never_takes_the_newest_run() {
    let mut stage = Stage::new();
    stage.write("a", "start");
    let mut before = Vec::new();
    for n in 0..10 {
        before.push(stage.snapshot());
        stage.now(1_000 * n);
        stage.edit(&format!("run-{n}"), "a", &format!("{n}").repeat(1_000));
        stage.command(&format!("run-{n}"), || {
            fs::write(stage.path(&format!("f{n}")), format!("{n}").repeat(500)).unwrap();
        });
    }
    let last = stage.snapshot();
    stage.restart();
    let now = |seconds: i64| Timestamp::from_second(1_800_000_000 + seconds).unwrap();
    let old = UndoRetention {
        older_than: Some(jiff::SignedDuration::from_secs(5_500)),
        ..UndoRetention::default()
    };
    let pruned = stage.undo.prune(&old, now(9_000)).unwrap();
    assert_eq!(pruned.runs, 4, "those of 0, 1000, 2000 and 3000");
    assert!(pruned.freed >= 3_000, "what only they had");
    assert!(matches!(stage.undo.plan_undo(Some("run-3"), &[]), Err(UndoError::NoRun { .. })));
    for n in [9, 4, 6] {
        stage.undone(Some(&format!("run-{n}")));
        assert_eq!(stage.snapshot(), before[n], "before run {n}");
        stage.redone();
        assert_eq!(stage.snapshot(), last);
    }
    stage.restart();
    let tiny = UndoRetention { bytes: Some(1), ..UndoRetention::default() };
    stage.undo.prune(&tiny, now(9_000)).unwrap();
    assert_eq!(stage.undo.runs().unwrap().len(), 1);
    stage.undone(None);
    assert_eq!(stage.snapshot(), before[9]);
    let all = prune_all(stage.data.as_path(), &old, now(90_000));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].1.as_ref().unwrap().runs, 0, "the newest stays, however old");
}

#[test]
fn promise_8_two_processes_share_one_project() {
    let stage = Stage::new();
    stage.write("a", "one");
    stage.write("b", "one");
    let at_first = stage.snapshot();
    let other = stage.another();
    // Both are at work: one runs a command while the other edits.
    stage.undo.command_begins(&RunId::from("r1"), "c1").unwrap();
    fs::write(stage.path("a"), "by command").unwrap();
    stage.edit_with(&other, "r2", "b", "by the other");
    let ended = stage.undo.command_ended("c1").unwrap();
    assert_eq!(paths(ended.changed), ["a"], "what the other recorded is not recorded twice");
    assert!(matches!(
        stage.undo.plan_undo(None, &[]).and_then(|plan| { stage.undo.carry_out(&plan, OnConflict::Refuse) }),
        Err(UndoError::Busy)
    ));
    other.run_ended(&RunId::from("r2")).unwrap();
    stage.undone(Some("r1"));
    assert_eq!(stage.snapshot(), at_first);
    // Many at once lose no line.
    std::thread::scope(|scope| {
        for process in 0..4 {
            let stage = &stage;
            scope.spawn(move || {
                let undo = stage.another();
                for n in 0..10 {
                    let name = format!("{process}-{n}");
                    stage.edit_with(&undo, &name, &format!("f-{name}"), "x");
                    undo.run_ended(&RunId::from(name.as_str())).unwrap();
                }
            });
        }
    });
    assert_eq!(stage.undo.runs().unwrap().len(), 42);
    let first = stage.undo.runs().unwrap()[39].id.clone();
    stage.undone(Some(first.as_str()));
    assert_eq!(stage.snapshot(), at_first);
}
