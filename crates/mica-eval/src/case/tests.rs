//! Reading cases: what is wrong is said with its line.

use super::*;

const HEAD: &str = "about = \"x\"\nproduct = \"p\"\n";

#[track_caller]
fn wrong(text: &str, line: Option<usize>, problem: &str) {
    let text = format!("{HEAD}{text}");
    match Case::parse("c", Path::new("c.toml"), &text).as_ref().map_err(Vec::as_slice) {
        Err([EvalError::Invalid { line: found, problem: said, .. }]) => {
            assert_eq!((*found, said.as_str()), (line, problem), "{text}");
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn what_nobody_knows_is_an_error_with_its_line_and_what_was_meant() {
    let step = "[[step]]\nsay = 'x'\n";
    wrong(
        &format!("{step}[step.expct]\n"),
        Some(5),
        "unknown key `expct`; did you mean `expect`? (known: name, say, page, mention, with, answer, advance, event, args, \
         restart, look, turn, expect)",
    );
    wrong(
        &format!("{step}[step.expect]\ntext = {{ hass = 'x' }}\n"),
        Some(6),
        "unknown key `hass`; did you mean `has`? (known: equals, not, has, lacks, matches, includes, excludes, exists, gone, \
         same, at_least, at_most, near, count)",
    );
    wrong(
        &format!("{step}turn = [{{ say = 'x' }}]"),
        Some(5),
        "unknown key `say`; did you mean `says`? (known: sees, lacks, thinks, says, calls, error, stop, usage, fault)",
    );
    wrong(
        &format!("model.kind = 'casette'\n{step}"),
        Some(3),
        "unknown value `casette`; did you mean `cassette`? (known: scripted, scenario, obeys, cassette, live)",
    );
    wrong(
        &format!("clock = '2026-03-02'\n{step}"),
        Some(3),
        "`clock`: \"2026-03-02\" is no point in time: write date, time and zone, such as 2026-03-02T09:00:00Z",
    );
    wrong("step = 3", Some(3), "`step`: this is 3; a list is expected");
    wrong(
        &format!("{step}turn = [{{ calls = [{{ tool = 3 }}] }}]"),
        Some(5),
        "`step[0].turn[0].calls[0].tool`: this is 3; a text is expected",
    );
    wrong(
        &format!("{step}[[step]]\nlook = true\n[step.expect.look]\nnotes = {{ count = 'two' }}"),
        Some(8),
        "`step[1].expect.look.notes.count`: this is the text \"two\"; a whole number from 0 on is expected",
    );
    wrong(
        &format!("deadline = '5s'\n{step}"),
        Some(3),
        "`deadline`: this is the text \"5s\"; a whole number from 0 on is expected",
    );
    wrong(
        &format!("{step}[step.expect]\ntext = {{ has = 3 }}"),
        Some(6),
        "`step[0].expect.text.has`: this is 3; a text or a list of texts is expected",
    );
}

/// Everything that is wrong with a case, as people read it.
#[track_caller]
fn all_wrong(text: &str, expect: &[&str]) {
    let errors = Case::parse("c", Path::new("c.toml"), text).unwrap_err();
    let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(said, expect, "{text}");
}

#[test]
fn everything_that_is_wrong_is_told_with_its_place() {
    let holds = "equals, not, has, lacks, matches, includes, excludes, exists, gone, same, at_least, at_most, near, count";
    all_wrong(
        "abuot = 'x'\nproduct = 3\nclock = 'noon'\ndeadline = 2026-01-01\n\n[[step]]\nsay = 'x'\n\n[step.expect]\n  \
         text = 'Sent'\nwire_valid = 1\nusage = { max_cost = 'much' }\nlook.a = { near = { value = 1, whithin = 2 } }\n\n\
         [[step]]\nlok = true\n[step.expect.look]\n\"ä\" = { has = 1, cuont = 2 }\n",
        &[
            "c.toml:1:1: unknown key `abuot`; did you mean `about`? (known: about, product, tags, clock, deadline, journal, \
             setup, unmatched, mock, model, judge, turn, step, after)",
            "c.toml:2:11: `product`: this is 3; a text is expected",
            "c.toml:3:9: `clock`: \"noon\" is no point in time: write date, time and zone, such as 2026-03-02T09:00:00Z",
            "c.toml:4:12: `deadline`: this is a point in time; a whole number from 0 on is expected",
            &format!(
                "c.toml:10:10: `step[0].expect.text`: this is the text \"Sent\"; a table with any of {holds} is expected"
            ),
            "c.toml:11:14: `step[0].expect.wire_valid`: this is 1; true or false is expected",
            "c.toml:12:22: `step[0].expect.usage.max_cost`: this is the text \"much\"; a number is expected",
            "c.toml:13:32: unknown key `whithin`; did you mean `within`? (known: value, within)",
            "c.toml:16:1: unknown key `lok`; did you mean `look`? (known: name, say, page, mention, with, answer, advance, \
             event, args, restart, look, turn, expect)",
            "c.toml:18:15: `step[1].expect.look.ä.has`: this is 1; a text or a list of texts is expected",
            &format!("c.toml:18:18: unknown key `cuont`; did you mean `count`? (known: {holds})"),
        ],
    );
    // What the shape does not say: all of it as well.
    all_wrong(
        "about = ''\nproduct = 'p'\n[model]\nkind = 'cassette'\n[[step]]\nname = 'x'\nexpect = { outcome = 'x', text = {} }\n\
         [[mock]]\noutput = 'x'\n[after.\"a b\"]\n",
        &[
            "c.toml: `about` is missing: say in a sentence what the case shows",
            "c.toml:3:1: `file` is missing: the scenario, or the cassette",
            "c.toml:5:1: step 1: it does nothing: write one of `say`, `answer`, `advance`, `event`, `restart` or `look`",
            "c.toml:5:1: step 1: there is no outcome \"x\" (known: completed, suspended, exhausted, aborted, failed, none)",
            "c.toml:5:1: step 1: `text`: nothing is said about it: write for example `equals`, `has` or `exists`",
            "c.toml:8:1: mock 1: `tool` is missing",
            "c.toml:10:1: after \"a b\": nothing is said about it: write for example `equals`, `has` or `exists`",
        ],
    );
    all_wrong(
        "model.kind = 3\nunmatched = true\nstep = [1, { say = 2 }]\n",
        &[
            "c.toml:1:14: `model.kind`: this is 3; one of scripted, scenario, obeys, cassette, live is expected",
            "c.toml:2:13: `unmatched`: this is true; one of fail, run, reads is expected",
            "c.toml:3:9: `step[0]`: this is 1; a table with any of name, say, page, mention, with, answer, advance, event, \
             args, restart, look, turn, expect is expected",
        ],
    );
    // What is no TOML is told alone: what the rest means is anybody's guess.
    all_wrong(
        "about = 'x'\nproduct = \nabuot = 3\n[step\n",
        &[
            "c.toml:2:11: string values must be quoted, expected literal string",
            "c.toml:4:6: unclosed table, expected `]`",
        ],
    );

    all_wrong(
        "about = 'x'\nabout = 'y'\n[step.expect\n[[step]]\ntext = { has = 'a' \nsay = hi\n",
        &[
            "c.toml:2:1: duplicate key",
            "c.toml:3:13: unclosed table, expected `]`",
            "c.toml:6:1: missing comma between key-value pairs, expected `,`",
        ],
    );
}

#[test]
fn what_a_case_names_lies_below_its_folder() {
    let step = "[[step]]\nsay = 'x'\n";
    let hint = "name something below the folder of the case";
    wrong(
        &format!("[model]\nkind = 'cassette'\nfile = '../x.jsonl'\n{step}"),
        Some(5),
        &format!("`model.file`: \"../x.jsonl\" has `..` in it: {hint}"),
    );
    wrong(
        &format!("[model]\nkind = 'scenario'\nfile = '/etc/passwd'\n{step}"),
        Some(5),
        &format!("`model.file`: \"/etc/passwd\" is an absolute path: {hint}"),
    );
    wrong(
        &format!("[judge]\ncassette = 'a/../../x'\n{step}"),
        Some(4),
        &format!("`judge.cassette`: \"a/../../x\" has `..` in it: {hint}"),
    );
}

#[test]
fn a_case_that_expects_nothing_is_known() {
    let check = |text: &str, expect: bool| {
        let case = Case::parse("c", Path::new("c.toml"), &format!("{HEAD}{text}")).unwrap();
        assert_eq!(case.expects_something(), expect, "{text}");
    };
    let step = "[[step]]\nsay = 'x'\n";
    check(step, false);
    check(&format!("{step}turn = [{{ says = 'y' }}]"), false);
    check(&format!("{step}turn = [{{ says = 'y', sees = 'x' }}]"), true);
    check(&format!("{step}expect.outcome = 'completed'"), true);
    check(&format!("{step}[after.x]\nequals = 1"), true);
    check(&format!("journal = 'x'\n{step}"), true);
}

#[test]
fn a_step_does_one_thing() {
    let nothing = "it does nothing: write one of `say`, `answer`, `advance`, `event`, `restart` or `look`";
    wrong("[[step]]\nname = 'x'", Some(3), &format!("step 1: {nothing}"));
    wrong(
        "[[step]]\nsay = 'x'\n[[step]]\nsay = 'x'\nrestart = true",
        Some(5),
        "step 2: it does several things at once: make several steps of it",
    );
    wrong("", None, "there is no [[step]]: a case in which nothing happens shows nothing");
    wrong("[[step]]\nevent = 'x'\npage = 'p'", Some(3), "step 1: `page` and `mention` go with `say`");
    wrong(
        "[[step]]\nsay = 'x'\nargs = { a = 1 }",
        Some(3),
        "step 1: `args` go with `event`; what goes with `say` is `with`",
    );
    wrong(
        "[[step]]\nadvance = '2 fortnights'",
        Some(3),
        "step 1: \"2 fortnights\" is no duration; write for example \"2h 30m\" or \"3d\"",
    );
    wrong("[[step]]\nadvance = '1mo'", Some(3), "step 1: \"1mo\" has no fixed length; write days or less");
    wrong(
        "[[step]]\nanswer = [{ approve = true, deny = 'no' }]",
        Some(3),
        "step 1: an answer is one of `approve = true`, `deny = \"why\"` and `edit = { … }`",
    );
    wrong(
        "[[step]]\nsay = 'x'\nexpect.outcome = 'complete'",
        Some(3),
        "step 1: there is no outcome \"complete\"; did you mean \"completed\"? (known: completed, suspended, exhausted, \
         aborted, failed, none)",
    );
    wrong(
        "[[step]]\nsay = 'x'\n[after.x]",
        Some(5),
        "after \"x\": nothing is said about it: write for example `equals`, `has` or `exists`",
    );
    wrong(
        "[[step]]\nsay = 'x'\nexpect.judge = 'It is nice.'",
        None,
        "there is something to judge and no [judge]: say `model`, `cassette` or [[judge.turn]]",
    );
    wrong(
        "[[mock]]\ntool = 'x'\noutput = 'a'\nerror = 'b'\n[[step]]\nsay = 'x'",
        Some(3),
        "mock 1: `output`, `outputs` and `error` exclude each other",
    );
    wrong(
        "[[step]]\nsay = 'x'\nturn = [{ says = 'a' }]\n[[turn]]\nsays = 'b'",
        Some(6),
        "there are turns of the case and turns of steps: their order would be anybody's guess",
    );
}

#[test]
fn a_case_is_the_same_whatever_its_layout() {
    let digest = |text: &str| Case::parse("c", Path::new("c.toml"), &format!("{HEAD}{text}")).unwrap().digest;
    let one = digest("[[step]]\nsay = 'x'\nexpect = { text = { has = 'y' }, outcome = 'failed' }");
    let other =
        digest("# A comment.\n[[step]]\nsay = \"x\"\n[step.expect]\noutcome = 'failed'\ntext.has = 'y'\n");
    assert_eq!(one, other);
    assert_ne!(one, digest("[[step]]\nsay = 'z'"));
}

#[track_caller]
fn holds(holds: &str, found: impl Into<Value>, expect: &[&str]) {
    let found: Value = found.into();
    let holds: Holds = toml::from_str(holds).unwrap();
    let unlike: Vec<String> = holds.check(&found, None).into_iter().map(|unlike| unlike.expected).collect();
    assert_eq!(unlike, expect, "{found}");
}

#[test]
fn what_must_hold_is_held_against_what_is_there() {
    use serde_json::json;
    holds("equals = 1", json!(1.0), &[]);
    holds("equals = { a = [1, 2] }", json!({ "a": [1, 2] }), &[]);
    holds("equals = { a = 1 }", json!({ "a": 1, "b": 2 }), &["{\n  \"a\": 1\n}"]);
    holds("not = 'x'", json!("x"), &["anything but x"]);
    holds("not = 'x'", Value::Null, &[]);
    holds("has = 'b'", json!(["a", "bb"]), &["\"b\" in it"]);
    holds("has = 'b'", json!({ "b": 1 }), &[]);
    holds("includes = [{ a = 1 }]", json!([{ "a": 1, "b": 2 }]), &[]);
    holds("includes = [{ a = 2 }]", json!([{ "a": 1 }]), &["a member with {\n  \"a\": 2\n}"]);
    holds("excludes = [{ a = 1 }]", json!([{ "a": 1 }]), &["no member with {\n  \"a\": 1\n}"]);
    holds("at_least = 2\nat_most = 3", json!(2.5), &[]);
    holds("at_least = 3", json!(2.5), &["a number, at least 3"]);
    holds("at_most = 3", json!("2"), &["a number, at most 3"]);
    holds("near = { value = 10, within = 2 }", json!(8), &[]);
    holds("near = { value = 10, within = 2 }", json!(7), &["10, give or take 2"]);
    holds(
        "near = { value = '2026-01-01T00:00:00Z', within = '1h' }",
        json!("2026-01-01T01:00:00+00:00"),
        &[],
    );
    holds(
        "near = { value = '2026-01-01T00:00:00Z', within = '1h' }",
        json!("soon"),
        &["2026-01-01T00:00:00Z, give or take 1h"],
    );
    holds("exists = true", Value::Null, &["that it is there"]);
    holds("exists = false", json!(0), &["that it is not there"]);
    holds("lacks = 'x'", Value::Null, &["that it is there"]);
    holds("matches = '^a+$'", json!("aab"), &["something that fits /^a+$/"]);
}
