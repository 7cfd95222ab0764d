//! Reading cases: what is wrong is said with its line.

use super::*;

const HEAD: &str = "about = \"x\"\nproduct = \"p\"\n";

#[track_caller]
fn wrong(text: &str, line: Option<usize>, problem: &str) {
    let text = format!("{HEAD}{text}");
    match Case::parse("c", Path::new("c.toml"), &text) {
        Err(EvalError::Invalid { line: found, problem: said, .. }) => {
            assert_eq!((found, said.as_str()), (line, problem), "{text}");
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
    wrong("step = 3", Some(3), "`step`: invalid type: integer `3`, expected a sequence");
    wrong(
        &format!("{step}turn = [{{ calls = [{{ tool = 3 }}] }}]"),
        Some(5),
        "`step[0].turn[0].calls[0].tool`: invalid type: integer `3`, expected a string",
    );
    wrong(
        &format!("{step}[[step]]\nlook = true\n[step.expect.look]\nnotes = {{ count = 'two' }}"),
        Some(8),
        "`step[1].expect.look.notes.count`: invalid type: string \"two\", expected usize",
    );
    wrong(
        &format!("deadline = '5s'\n{step}"),
        Some(3),
        "`deadline`: invalid type: string \"5s\", expected u64",
    );
    wrong(
        &format!("{step}[step.expect]\ntext = {{ has = 3 }}"),
        Some(6),
        "`step[0].expect.text.has`: invalid type: integer `3`, expected a text or a list of texts",
    );
}

#[test]
fn what_a_case_names_lies_below_its_folder() {
    let step = "[[step]]\nsay = 'x'\n";
    let hint = "name something below the folder of the case";
    wrong(
        &format!("[model]\nkind = 'cassette'\nfile = '../x.jsonl'\n{step}"),
        Some(3),
        &format!("`model.file`: \"../x.jsonl\" has `..` in it: {hint}"),
    );
    wrong(
        &format!("[model]\nkind = 'scenario'\nfile = '/etc/passwd'\n{step}"),
        Some(3),
        &format!("`model.file`: \"/etc/passwd\" is an absolute path: {hint}"),
    );
    wrong(
        &format!("[judge]\ncassette = 'a/../../x'\n{step}"),
        Some(3),
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
        None,
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
