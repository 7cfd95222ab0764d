//! Rings, chains and other shapes of projects: what is found in them, and how often sequences are looked into.

use std::cell::Cell;

use crate::diagnostic::Diagnostic;
use crate::project::Project;

thread_local! {
    /// How many trees were made to look into sequences, on this thread.
    pub(super) static TREES: Cell<usize> = const { Cell::new(0) };
}

const MANY: usize = 2000;
const XMLNS: &str = "xmlns=\"http://ws.apache.org/ns/synapse\"";

fn path(name: &str) -> String {
    format!("src/main/wso2mi/artifacts/sequences/{name}.xml")
}

fn sequence(name: &str, steps: &str) -> String {
    format!("<sequence {XMLNS} name=\"{name}\">{steps}</sequence>")
}

fn api(steps: &str) -> String {
    format!(
        "<api {XMLNS} name=\"A\" context=\"/a\"><resource methods=\"GET\"><inSequence>{steps}</inSequence></resource></api>"
    )
}

fn set(project: &mut Project, name: &str, steps: &str) {
    project.set(path(name), sequence(name, steps));
}

/// Sequences that run the next, and the last of them the one of that number.
fn line(count: usize, last: Option<usize>) -> Project {
    let mut project = Project::default();
    for number in 0..count {
        let next = (number + 1 < count).then_some(number + 1).or(last);
        let call = next.map(|next| format!("<sequence key=\"S{next}\"/>")).unwrap_or_default();
        set(&mut project, &format!("S{number}"), &format!("<log><message>${{vars.x}}</message></log>{call}"));
    }
    project
}

fn found(project: &Project, name: &str, code: u16) -> Vec<Diagnostic> {
    let all = project.check_file(&path(name));
    all.into_iter().filter(|one| one.code.0 == code).collect()
}

/// How many trees some work makes.
fn trees(work: impl FnOnce()) -> usize {
    let before = TREES.get();
    work();
    TREES.get() - before
}

fn check_all(project: &Project) {
    for (path, _) in project.files() {
        let _ = project.check_file(path);
    }
}

#[test]
fn a_ring_is_told_in_each_of_its_files_and_never_gone_round() {
    let project = line(MANY, Some(0));
    let made = trees(|| {
        for number in 0..MANY {
            assert_eq!(found(&project, &format!("S{number}"), 908).len(), 1, "S{number}");
        }
    });
    assert_eq!(made, 0);
    let said = &found(&project, "S7", 908)[0];
    assert_eq!(
        said.message,
        "This comes back here without end: S7 → S8 → S9 → S10 → … 1994 more … → S5 → S6 → S7"
    );
}

#[test]
fn a_chain_is_looked_into_once() {
    let project = line(MANY, None);
    let made = trees(|| {
        check_all(&project);
        check_all(&project);
    });
    // What leads deeper than that is not followed, and the first of those that are is run by one that is not.
    assert_eq!(made, 31);
}

#[test]
fn what_many_run_is_looked_into_once() {
    let mut project = line(20, None);
    for number in 0..MANY {
        set(
            &mut project,
            &format!("C{number}"),
            "<sequence key=\"S0\"/><log><message>${vars.x}</message></log>",
        );
    }
    assert_eq!(trees(|| check_all(&project)), 20);
}

#[test]
fn an_edit_of_one_file_changes_what_is_found_in_others() {
    let mut project = line(50, Some(0));
    assert_eq!(found(&project, "S7", 908).len(), 1);
    set(&mut project, "S30", "<log/>");
    assert_eq!(found(&project, "S7", 908), []);
    set(&mut project, "S30", "<filter xpath=\"a\"><then><sequence key=\"S31\"/></then></filter>");
    assert_eq!(
        found(&project, "S7", 908)[0].message,
        "This comes back here: S7 → S8 → S9 → S10 → … 44 more … → S5 → S6 → S7; it ends only when a condition says so"
    );
    set(&mut project, "S30", "<sequence key=\"S31\"/>");
    assert_eq!(found(&project, "S7", 908)[0].severity.word(), "warning");
    project.set(path("Other"), sequence("S30", "<log/>"));
    assert_eq!(found(&project, "S7", 908), [], "nobody knows which of two runs");
    project.remove(&path("Other"));
    assert_eq!(found(&project, "S7", 908).len(), 1);
    project.remove(&path("S30"));
    assert_eq!(found(&project, "S7", 908), []);
}

#[test]
fn only_what_leads_to_an_edit_is_looked_into_again() {
    let mut project = line(10, None);
    set(&mut project, "Main", "<sequence key=\"S0\"/><log><message>${vars.x}</message></log>");
    project.set("api.xml", api("<sequence key=\"S0\"/><respond/>"));
    assert_eq!(trees(|| check_all(&project)), 10);
    // A text that says the same, one that says something else and runs the same, and one of a file that runs nothing.
    set(&mut project, "S8", "<log><message>${vars.y}</message></log><sequence key=\"S9\"/>");
    assert_eq!(trees(|| check_all(&project)), 9);
    set(&mut project, "S1", "<variable name=\"z\" value=\"1\"/><sequence key=\"S2\"/>");
    assert_eq!(trees(|| check_all(&project)), 2);
    project.set("api.xml", api("<sequence key=\"S0\"/><variable name=\"w\" value=\"1\"/><respond/>"));
    assert_eq!(trees(|| check_all(&project)), 0);
    // One that runs something else: the graph is another, and nobody runs the last any more.
    set(&mut project, "S8", "<log/>");
    assert_eq!(trees(|| check_all(&project)), 9);
}

#[test]
fn what_the_last_of_some_does_is_seen_by_the_first() {
    let mut project = Project::default();
    let after = "<log><message>${vars.x}</message></log>";
    project.set("api.xml", api(&format!("<sequence key=\"S0\"/>{after}<respond/>")));
    set(&mut project, "S0", "<sequence key=\"S1\"/>");
    let check = |project: &mut Project, steps: &str, expected: &[u16]| {
        set(project, "S1", steps);
        let codes: Vec<u16> = project.check_file("api.xml").iter().map(|one| one.code.0).collect();
        assert_eq!(codes, expected, "{steps}");
    };
    check(&mut project, "<log/>", &[449]);
    check(&mut project, "<variable name=\"x\" value=\"1\"/>", &[]);
    check(&mut project, "<respond/>", &[501]);
    check(&mut project, "<class name=\"a.B\"/>", &[]);
    check(&mut project, "<sequence key=\"S0\"/>", &[]);
    check(&mut project, "<log/>", &[449]);
}

/// Steps that may be anywhere, and what is read afterwards.
const STEPS: &[&str] = &[
    "<log/>",
    "<variable name=\"x\" value=\"1\"/>",
    "<variable name=\"x\" action=\"remove\"/>",
    "<property name=\"p\" value=\"1\"/>",
    "<respond/>",
    "<class name=\"a.B\"/>",
    "<foreach collection=\"${payload.a}\"><sequence><variable name=\"x\" value=\"1\"/><property name=\"p\" value=\"1\"/></sequence></foreach>",
    "<filter xpath=\"${payload.a}\"><then><variable name=\"x\" value=\"1\"/></then></filter>",
    "<filter xpath=\"${payload.a}\"><then><variable name=\"x\" action=\"remove\"/></then><else><property name=\"p\" value=\"1\"/></else></filter>",
    "<filter xpath=\"${payload.a}\"><then><variable name=\"x\" value=\"1\"/></then><else><respond/></else></filter>",
    "<filter xpath=\"${payload.a}\"><then><variable name=\"x\" action=\"remove\"/><variable name=\"x\" value=\"1\"/></then></filter>",
    "<filter xpath=\"${payload.a}\"><then><class name=\"a.B\"/></then></filter>",
    "<switch source=\"${payload.a}\"><case regex=\"a\"><variable name=\"x\" action=\"remove\"/></case><default><variable name=\"x\" value=\"1\"/></default></switch>",
    "<validate><schema key=\"s\"/><on-fail><variable name=\"x\" value=\"1\"/><property name=\"p\" value=\"1\"/></on-fail></validate>",
    "<clone><target><sequence><variable name=\"x\" action=\"remove\"/></sequence></target></clone>",
];
const READ: &str = "<log><message>${vars.x} ${props.synapse.p}</message></log>";

/// What is found in steps that stand in one flow, and what is found in the same ones when another file has some.
#[test]
fn naming_steps_changes_nothing_about_them() {
    let said = |project: &Project, steps: &str| -> Vec<String> {
        let found = project.check_file("api.xml");
        let source = project.file("api.xml").unwrap().document().source();
        let after = u32::try_from(source.find(steps).unwrap() + steps.len()).unwrap();
        let own = found.iter().filter(|one| matches!(one.code.0, 449 | 501 | 504 | 651 | 652));
        let own = own.filter(|one| one.span.start >= after || one.code.0 == 504);
        own.map(|one| format!("{} {}", one.code.0, one.span.of(source))).collect()
    };
    let mut project = Project::default();
    let mut kinds = std::collections::BTreeSet::new();
    // Nothing is there before them, or something is set, or something is lost.
    for before in [STEPS[0], STEPS[1], STEPS[6]] {
        for first in STEPS {
            for second in STEPS {
                let inline = format!("<sequence>{first}<sequence>{second}</sequence></sequence>");
                project.set("api.xml", api(&format!("{before}{inline}{READ}")));
                let expected = said(&project, &inline);
                kinds.extend(expected.iter().cloned());
                project.set("second.xml", sequence("Second", second));
                project.set("first.xml", sequence("First", &format!("{first}<sequence key=\"Second\"/>")));
                let named = "<sequence key=\"First\"/>";
                project.set("api.xml", api(&format!("{before}{named}{READ}")));
                assert_eq!(said(&project, named), expected, "{before}{inline}");
            }
        }
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(kinds, ["449 x", "501 log", "504 inSequence", "651 x", "652 p", "652 x"]);
}
