//! What was mapped before is kept or named, and mappings come in many forms.

use super::super::typescript;
use super::*;

fn file(body: &str) -> String {
    format!("interface A {{ x: string }}\nexport function mapFunction(input: A): A {{\n{body}\n}}\n")
}

fn check(old: &str, new: &str, expected: &Protected) {
    let (old, new) = (file(old), file(new));
    let read = |source: &str| typescript::read(source, "a.ts").unwrap();
    assert_eq!(protect(&old, &read(&old), &new, &read(&new)), *expected, "{old}\n{new}");
}

fn lost(fields: &[&str]) -> Protected {
    Protected::Lost { fields: fields.iter().map(|field| (*field).to_owned()).collect() }
}

#[test]
fn what_was_mapped_is_kept() {
    check("return {}", "return { a: 1 };", &Protected::Nothing);
    check("    return {\n    };\n", "return { a: 1 };", &Protected::Nothing);
    check("return { a: 1, b: { c: 2 } };", "return { b: { c: 3 }, a: 2 };", &Protected::Nothing);
    check("return { a: 1 };", "return { ...input };", &Protected::Nothing);
    check(
        "return { a: f(input), b: { c: 2, \"d e\": [3] } };",
        "return {\n    b: {\n        c: 4,\n    },\n};",
        &Protected::Kept {
            source: file(
                "return {\n    b: {\n        c: 4,\n        \"d e\": [3],\n    },\n    a: f(input),\n};",
            ),
            fields: vec!["a".to_owned(), "b.d e".to_owned()],
        },
    );
    check(
        "return { a: 1, b: 2 };",
        "return {};",
        &Protected::Kept {
            source: file("return {\n        a: 1,\n        b: 2\n    };"),
            fields: vec!["a".to_owned(), "b".to_owned()],
        },
    );
}

#[test]
fn what_cannot_be_kept_is_not_lost_in_silence() {
    check("const n = 1;\nreturn { a: n, b: 2 };", "return { b: 3 };", &lost(&["a"]));
    check("return input;", "return { a: 1 };", &lost(&[]));
    check(
        "return { a: 1, b: 2 };",
        "if (input) return { a: 1 } as any;\nreturn null as any;",
        &lost(&["a", "b"]),
    );
}

#[test]
fn mappings_come_in_many_forms() {
    let body = "\n  return { x: input.x };\n";
    for (text, expected) in [
        ("return { x: input.x };".to_owned(), "return { x: input.x };"),
        ("{ x: input.x }".to_owned(), "return { x: input.x };"),
        ("Here it is:\n```typescript\nreturn 1;\n```\nDone.".to_owned(), "return 1;"),
        (format!("export function mapFunction(input: A): A {{{body}}}"), body),
        (
            format!(
                "import * as dmUtils from \"./dm-utils\";\ninterface A {{}}\nexport function mapFunction(input: A): A {{{body}}}"
            ),
            body,
        ),
    ] {
        assert_eq!(given(&text).unwrap().body, expected, "{text}");
    }
    let with = given(
        "interface A { x: string }\nconst TABLE = { a: 1 };\nfunction help(n: number) { return n; }\nexport function mapFunction(input: A): A { return help(TABLE.a); }",
    )
    .unwrap();
    let source = file("return {}");
    let read = typescript::read(&source, "a.ts").unwrap();
    let once = with_body(&source, &read, &with);
    let mapped = file("    return help(TABLE.a);");
    let more = "const TABLE = { a: 1 };\n\nfunction help(n: number) { return n; }\n";
    assert_eq!(once, format!("{}\n\n{more}", mapped.trim_end()), "the interface is there already");
    let again = with_body(&once, &typescript::read(&once, "a.ts").unwrap(), &with);
    assert_eq!(again, once, "a helper that is there is not added again");
}
