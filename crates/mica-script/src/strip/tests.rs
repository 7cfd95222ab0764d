//! What is left of TypeScript, where mistakes are told, and sources that are nothing but depth.

use super::*;

fn check(source: &str, expected: &str) {
    assert_eq!(strip(source, "a.ts").unwrap().code, expected, "{source}");
}

fn refused(source: &str, expected: &str) {
    let error = strip(source, "a.ts").unwrap_err();
    assert_eq!(error.for_model(), expected);
}

#[test]
fn types_go() {
    check(
        "interface A { b?: string }\ntype C = A | null;\nexport const d: C = null;",
        "export const d = null;\n",
    );
    check(
        "import type { A } from './a';\nimport { type B, c } from './b';\nc();",
        "import { c } from './b';\nc();\n".replace('\'', "\"").as_str(),
    );
    check(
        "declare var DM_PROPERTIES: any;\ndeclare module 'x' {}\nlet a = DM_PROPERTIES!.b as number;",
        "let a = DM_PROPERTIES.b;\n",
    );
    check(
        "export function f<T>(this: void, a?: T, ...b: T[]): a is T { return <any>a satisfies T; }",
        "export function f(a, ...b) {\n\treturn a;\n}\n",
    );
    check(
        "abstract class A<T> implements B { private readonly c = 1; declare d: T; abstract e(): void; constructor(public f: T) {} }",
        "class A {\n\tf;\n\tc = 1;\n\tconstructor(f) {\n\t\tthis.f = f;\n\t}\n}\n",
    );
}

#[test]
fn enums_and_namespaces_are_code() {
    check(
        "export enum A { B, C = 'c' }",
        "export let A = function(A) {\n\tA[A[\"B\"] = 0] = \"B\";\n\tA[\"C\"] = \"c\";\n\treturn A;\n}({});\n",
    );
    check(
        "namespace N { export const a = 1; }\nN.a;",
        "let N;\n(function(_N) {\n\tconst a = _N.a = 1;\n})(N || (N = {}));\nN.a;\n",
    );
}

#[test]
fn mistakes_are_told_in_the_places_of_the_source() {
    refused(
        "const a: number = ;\n",
        "Syntax error in a.ts, line 1, column 19: Unexpected token\n1 | const a: number = ;\n                      ^",
    );
    refused(
        "interface A {}\nconst b = 1;\nconst b = 2;\n",
        "Syntax error in a.ts, line 2, column 7: Identifier `b` has already been declared\n2 | const b = 1;\n          ^",
    );
    refused(
        "function f() {\n  return {\n    a: 1\n",
        "Syntax error in a.ts, line 4, column 1: Expected `}` but found `EOF`\n4 | \n    ^",
    );
}

#[test]
fn places_lead_back_to_the_source() {
    let source =
        "interface A {\n  b: string;\n}\n\nexport function f(ä: A): string {\n  return ä.b.c.d;\n}\n";
    let stripped = strip(source, "a.ts").unwrap();
    let line = stripped.code.lines().position(|line| line.contains("return")).unwrap();
    let column = stripped.code.lines().nth(line).unwrap().find("return").unwrap();
    let at = Position { line: small(line) + 1, column: small(column) + 1 };
    assert_eq!(stripped.original(at), Some(Position { line: 6, column: 3 }));
    assert_eq!(stripped.original(Position { line: 99, column: 1 }), None);
    // Where a loop is cut off, only the line is known: what is first on it counts.
    let stripped = strip("const a = 1; for (;;);", "loop.ts").unwrap();
    assert_eq!(stripped.code, "const a = 1;\nfor (;;);\n");
    assert_eq!(stripped.original(Position { line: 2, column: 1 }), Some(Position { line: 1, column: 14 }));
    let stripped = strip("const f = () => { for (;;); };", "loop.ts").unwrap();
    assert_eq!(stripped.code, "const f = () => {\n\tfor (;;);\n};\n");
    assert_eq!(stripped.original(Position { line: 2, column: 1 }), Some(Position { line: 1, column: 19 }));
}

/// Sources that are nothing but levels. Each would end the process on the stack of a usual thread.
#[test]
fn deep_sources_do_not_end_the_process() {
    let levels = 2_000;
    let opened = |open: &str, close: &str| format!("{}1{};", open.repeat(levels), close.repeat(levels));
    for (what, source) in [
        ("signs", opened("!", "")),
        ("brackets", opened("(", ")")),
        ("lists", opened("[", "]")),
        ("arrows", opened("a=>", "")),
        ("sums", opened("1+", "")),
        ("choices", opened("a?b:", "")),
        ("members", format!("a{};", ".b".repeat(levels))),
        ("calls", format!("a{};", "()".repeat(levels))),
        ("blocks", format!("{}{}", "{".repeat(levels), "}".repeat(levels))),
        ("conditions", format!("{};", "if(a);else ".repeat(levels))),
        ("types", format!("let a: {}b{};", "A<".repeat(levels), ">".repeat(levels))),
        ("templates", opened("`${", "}`")),
        ("functions", format!("{}{}", "function a(){".repeat(levels), "}".repeat(levels))),
        ("classes", format!("{}{}", "(class{a=".repeat(levels), "1})".repeat(levels))),
    ] {
        let done = strip(&source, "deep.ts");
        let fine = matches!(done, Ok(_) | Err(ScriptError::Syntax { .. } | ScriptError::TimedOut { .. }));
        assert!(fine, "{what}: {done:?}");
    }
}

#[test]
fn what_is_too_deep_is_refused() {
    let error = strip(&"!".repeat(400_000), "deep.ts").unwrap_err();
    assert!(matches!(error, ScriptError::TooLarge { what: "nesting of the source", .. }), "{error}");
}
