//! Reports, and how they compare.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn reports_are_compared() {
    let stage = Stage::new(Scenario::new()).await;
    let failing = FINE.replace("equals = \"one\\n\"", "equals = \"two\\n\"");
    put(&stage, "cases/a.toml", FINE);
    put(&stage, "cases/b.toml", &failing);
    put(&stage, "cases/c.toml", FINE);
    let ran =
        stage.mica(&["eval", "cases", "--report", "out/before.json", "--junit", "out/before.xml"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let statuses = |report: &Value| -> Vec<Value> {
        report["cases"].as_array().unwrap().iter().map(|case| case["status"].clone()).collect()
    };
    assert_eq!(statuses(&report(&stage, "out/before.json")), ["passed", "failed", "passed"]);
    let xml = read(&stage, "out/before.xml");
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), "{xml}");
    assert_eq!((xml.matches("<testcase ").count(), xml.matches("<failure ").count()), (3, 1), "{xml}");

    // The baseline says that `a` failed and `b` passed, with the same cases: now it is the other way round.
    let mut before = report(&stage, "out/before.json");
    before["cases"][0]["status"] = json!("failed");
    before["cases"][0]["checks"] = before["cases"][1]["checks"].clone();
    before["cases"][1]["status"] = json!("passed");
    before["cases"][1]["checks"] = json!([]);
    put(&stage, "out/turned.json", &before.to_string());
    put(&stage, "cases/c.toml", &FINE.replace("Write it.", "Write this."));
    put(&stage, "cases/d.toml", FINE);
    let ran = stage.mica(&["eval", "cases", "--baseline", "out/turned.json", "--fail-on", "regressed"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let (_, since) = ran.out.split_once("Since the baseline:\n").unwrap();
    assert_eq!(
        since,
        "1 regressed:\n  b\n1 fixed:\n  a\n1 new:\n  d (passed)\n1 incomparable: the case was changed, or left out:\n  c \
         (passed)\n"
    );
    // What failed before may fail.
    let ran = stage.mica(&["eval", "cases", "--baseline", "out/before.json", "--fail-on", "regressed"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    let ran = stage.mica(&["eval", "cases", "--baseline", "cases/a.toml"]).await;
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("is no report of `mica eval --report`"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_read_one_object() {
    let temporary = tempfile::tempdir().unwrap();
    let temporary = temporary.path();
    let mut stage = Stage::new(Scenario::new()).await;
    stage.set("TMPDIR", temporary.to_str().unwrap());
    put(&stage, "fine.toml", FINE);
    let ran = stage.mica(&["eval", "fine.toml", "--format", "json"]).await;
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let case = &report["cases"][0];
    assert_eq!(
        (&case["name"], &case["status"], &case["requests"]),
        (&json!("fine"), &json!("passed"), &json!(2))
    );
    assert_eq!(report["version"], 1);
    // Folders of cases do not stay.
    let left: Vec<_> = std::fs::read_dir(temporary).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_makes_nothing_gone() {
    let stage = Stage::new(Scenario::new()).await;
    for name in ["a", "b", "c"] {
        put(&stage, &format!("cases/{name}_case.toml"), FINE);
    }
    let ran = stage.mica(&["eval", "cases", "--report", "all.json"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    std::fs::remove_file(stage.project().join("cases/c_case.toml")).unwrap();
    let since = |out: &str| out.split_once("Since the baseline:\n").unwrap().1.to_owned();
    let ran = stage.mica(&["eval", "cases", "--filter", "a_case", "--baseline", "all.json"]).await;
    assert_eq!((ran.code, since(&ran.out).as_str()), (Some(0), "1 gone:\n  c_case\n"));
    let ran = stage.mica(&["eval", "cases", "--baseline", "all.json", "--format", "json"]).await;
    let compared: Value = serde_json::from_str(&ran.out).unwrap();
    let changes: Vec<&Value> =
        compared["comparison"].as_array().unwrap().iter().map(|case| &case["change"]).collect();
    assert_eq!(changes, ["still_passing", "still_passing", "gone"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_way_of_a_report_is_said_before_anything_is_played() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "cases/fine.toml", FINE);
    let tape = "about = \"x\"\nproduct = \"desk\"\n[model]\nkind = \"cassette\"\nfile = \"data/t.jsonl\"\n[[step]]\nsay = \"Hi\"\n";
    put(&stage, "taped/a.toml", tape);
    put(&stage, "taped/data/t.jsonl", "theirs");
    put(&stage, "file", "");
    put(&stage, "old.json", &json!({ "version": 1, "cases": [] }).to_string());
    std::os::unix::fs::symlink("x.json", stage.project().join("link.json")).unwrap();
    put(&stage, "x.json", "mine");
    let project = stage.project().display().to_string();
    for (flags, said) in [
        (
            &["cases", "--report", "x.json", "--junit", "./x.json"][..],
            "mica: --junit and --report are one file, P/./x.json: one would overwrite the other\n",
        ),
        (
            &["cases", "--report", "link.json", "--junit", "x.json"],
            "mica: --junit and --report are one file, P/x.json: one would overwrite the other\n",
        ),
        (
            &["cases", "--junit", "old.json", "--baseline", "old.json"],
            "mica: --junit and --baseline are one file, P/old.json: one would overwrite the other\n",
        ),
        (
            &["cases", "--report", "file/x", "--junit", "cases", "--journal", "file"],
            "mica: --report: P/file/x: P/file is no folder\nmica: --junit: P/cases: this is a folder: name a file in it\n\
             mica: --journal: P/file/a case: P/file is no folder\n",
        ),
        (
            &["cases", "--report", "cases/fine.toml"],
            "mica: --report: P/cases/fine.toml belongs to the case fine\n",
        ),
        (
            &["taped", "--junit", "taped/data/t.jsonl"],
            "mica: --junit: P/taped/data/t.jsonl belongs to the case a\n",
        ),
        (
            &["cases", "--record"],
            "mica: there is nothing to record: no case has a cassette (`kind = \"cassette\"` in [model], or `cassette` in \
             [judge])\n",
        ),
    ] {
        let ran = stage.mica(&[&["eval"], flags].concat()).await;
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.replace(&project, "P").as_str()),
            (Some(2), "", said),
            "{flags:?}"
        );
    }
    assert_eq!(
        (read(&stage, "x.json").as_str(), read(&stage, "taped/data/t.jsonl").as_str()),
        ("mine", "theirs")
    );
    // A recording that could not be kept is not paid for.
    std::fs::remove_dir_all(stage.project().join("taped/data")).unwrap();
    put(&stage, "taped/data", "a file");
    let ran = stage.ask(&["eval", "taped", "--record"]).await;
    assert_eq!(
        (ran.code, ran.err.replace(&project, "P").as_str()),
        (
            Some(2),
            "mica: P/taped/a.toml: nothing can be recorded: P/taped/data/t.jsonl: P/taped/data is no folder\n"
        )
    );
    assert_eq!(stage.server.captured().len(), 0);
    // Folders are made, and a report may take the place of the baseline.
    let ran = stage.mica(&["eval", "cases", "--report", "new/deep/x.json", "--junit", "/dev/null"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let both = ["eval", "cases", "--report", "new/deep/x.json", "--baseline", "new/deep/x.json"];
    assert!(stage.does(&both).await.contains("Since the baseline:\nnothing changed\n"));
}
