//! What is no case, or typed wrongly, is said before anything is played.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_case_is_said_with_its_line_before_anything_is_played() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "cases/fine.toml", FINE);
    put(
        &stage,
        "cases/wrong.toml",
        &FINE.replace(
            "tool = \"file_write\", args = { path = \"notes.txt\" }, times",
            "tool = \"file_write\", tmes",
        ),
    );
    let project = stage.project().display().to_string();
    let ran = stage.mica(&["eval", "cases"]).await;
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.replace(&project, "P").as_str()),
        (
            Some(2),
            "",
            "mica: P/cases/wrong.toml:20:34: unknown key `tmes`; did you mean `times`? (known: tool, args, match, matches, times)\n"
        )
    );
    let ran = stage.mica(&["eval", "nowhere.toml"]).await;
    assert_eq!(
        (ran.code, ran.err.replace(&project, "P").as_str()),
        (Some(2), "mica: P/nowhere.toml: No such file or directory (os error 2)\n")
    );
    std::fs::create_dir(stage.project().join("empty")).unwrap();
    let ran = stage.mica(&["eval", "empty"]).await;
    assert_eq!(
        (ran.code, ran.err.replace(&project, "P").as_str()),
        (Some(2), "mica: P/empty: there is no case (*.toml) below this folder\n")
    );
    put(&stage, "other.toml", &FINE.replace("product = \"mi\"", "product = \"mia\""));
    let ran = stage.mica(&["eval", "other.toml"]).await;
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.replace(&project, "P").as_str()),
        (
            Some(2),
            "",
            "mica: P/other.toml: there is no product \"mia\"; did you mean \"mi\"? (there are: mi, desk)\n"
        )
    );
    let ran = stage.mica(&["eval", "cases/fine.toml", "--fail-on", "regressed"]).await;
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(2), "mica: --fail-on regressed needs a --baseline to compare with\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_wrongly_is_said_and_nothing_is_played() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "cases/fine.toml", FINE);
    for (flags, said) in [
        (&["--jobs", "0"][..], "0 is not in 1..=65535"),
        (&["--deadline", "0"], "0 is not in 1.."),
        (
            &["--mode", "ask"],
            "mica: `mica eval` does not take --mode: a case says itself how it is played (docs/evals.md)",
        ),
        (
            &["--allow", "shell", "--resume", "x", "--pack", "mi", "--yes"],
            "does not take --resume, --pack, --allow, --yes:",
        ),
        (&["--max-turns", "3", "--extension", "x"], "does not take --max-turns, --extension:"),
    ] {
        let ran = stage.mica(&[&["eval", "cases"], flags].concat()).await;
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{flags:?}");
        assert!(ran.err.contains(said), "{flags:?}: {}", ran.err);
    }
    let tape = "about = \"x\"\nproduct = \"desk\"\n[model]\nkind = \"cassette\"\nfile = \"one.jsonl\"\n[[step]]\nsay = \"Hi\"\n";
    put(&stage, "two/a.toml", tape);
    put(&stage, "two/b.toml", tape);
    let ran = stage.ask(&["eval", "two", "--record"]).await;
    let project = stage.project().display().to_string();
    assert_eq!(
        (ran.code, ran.err.replace(&project, "P").as_str()),
        (Some(2), "mica: P/two/b.toml: one.jsonl is recorded by P/two/a.toml as well: give each its own\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_a_case_name_what_is_wrong() {
    let stage = Stage::new(Scenario::new()).await;
    let case = |more: &str| {
        format!(
            "about = \"x\"\nproduct = \"desk\"\n{more}\n[[step]]\nsay = \"Hi\"\nturn = [{{ says = \"\\u001b[31mHo\" }}]\n"
        )
    };
    put(&stage, "c/nothing.toml", &case(""));
    put(&stage, "c/limits.toml", &case("setup.limits.tokens = \"many\""));
    put(&stage, "c/seed.toml", &case("setup.mailz = []"));
    put(&stage, "c/mock.toml", &case("[[mock]]\ntool = \"search_record\"\noutput = \"x\""));
    put(&stage, "c/red.toml", &(case("") + "expect.text = { equals = \"Hi\" }\n"));
    let ran = stage.mica(&["eval", "c", "--junit", "out.xml"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    for said in [
        "ok    nothing (",
        "      note: it expects nothing but that its runs complete: say what must come of it with [step.expect] or [after]\n",
        "`setup.limits.tokens`: this is the text \"many\"; a whole number from 0 on is expected\n",
        "unknown key `mailz`; did you mean `mails`?",
        "mock 1: there is no tool \"search_record\"; did you mean \"search_records\"?",
        "found:    \\u{1b}[31mHo\n",
    ] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    let xml = read(&stage, "out.xml");
    assert!(!ran.out.contains('\u{1b}') && !xml.contains('\u{1b}'), "{xml}");
    assert!(xml.contains("found: \\u{1b}[31mHo"), "{xml}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mistake_of_every_file_is_told_and_nothing_moves_the_cursor() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "c/one.toml", "about = 3\nproduct = \"mi\"\n[[step]]\nsay = \"Hi\"\nexpect.text = \"Ho\"\n");
    put(&stage, "c/two.toml", "about = \"x\"\nprodukt = \"mi\"\n[[step]]\nsay = \"Hi\"\n");
    let ran = stage.mica(&["eval", "c"]).await;
    let project = stage.project().display().to_string();
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.replace(&project, "P").as_str()),
        (
            Some(2),
            "",
            "mica: P/c/one.toml:1:9: `about`: this is 3; a text is expected\n\
             mica: P/c/one.toml:5:15: `step[0].expect.text`: this is the text \"Ho\"; a table with any of equals, not, has, lacks, \
             matches, includes, excludes, exists, gone, same, at_least, at_most, near, count is expected\n\
             mica: P/c/two.toml:2:1: unknown key `produkt`; did you mean `product`? (known: about, product, tags, clock, \
             deadline, journal, setup, unmatched, mock, model, judge, turn, step, after)\n"
        )
    );
    // Names and sentences are other people's words, and a row is a row.
    put(&stage, "d/a\u{1b}[2Jb\nc.toml", &FINE.replace("A file is", "A \\u001b[31mfile\\nis"));
    put(&stage, "d/z.toml", FINE);
    let listed = stage.mica(&["eval", "--list", "d"]).await;
    assert_eq!(
        (listed.code, listed.out.as_str()),
        (Some(0), "a\\u{1b}[2Jb\\nc  A \\u{1b}[31mfile\\nis written.\nz               A file is written.\n")
    );
    put(&stage, "e/a\u{1b}[2Jb.toml", "x");
    let ran = stage.mica(&["eval", "e", "--filter", "\u{9b}"]).await;
    assert_eq!(ran.code, Some(2));
    assert!(
        !ran.err.contains(['\u{1b}', '\u{9b}']) && ran.err.contains("a\\u{1b}[2Jb.toml:1:"),
        "{:?}",
        ran.err
    );
}
