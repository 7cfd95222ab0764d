//! What paths find, and how they fail.

use std::borrow::Cow;

use proptest::prelude::proptest;

use super::{Found, Holder, Path, ReadError};
use crate::json::{Json, Number, parse};

const DOCUMENT: &str = r#"{
    "i": 5, "d": 2.50, "big": 12345678901234567890, "e": 1e3, "s": "abc", "nul": null, "t": true,
    "arr": [3, 1.50, 2e1], "strs": ["a", "b"], "one": [7], "empty": [], "neg": [-3, -1],
    "mix": [1, 2.5, "x", null, true, {"k": 1}],
    "o": {"a": 1, "b": "x"}, "a.b": "dot", "sp ace": "sp", "q'": 1,
    "list": [
        {"n": 1, "v": "x", "p": 8.95, "tags": ["a", "b"]},
        {"n": 2, "v": "y y", "p": 12.5, "tags": []},
        {"n": 3, "v": "z", "p": 20, "gone": null}
    ],
    "nested": {"x": {"y": {"z": 9}}}, "rows": [[1, 2], [3, 4]], "text": "$x"
}"#;

/// What a path gives: the value printed, or `!` and how it fails.
fn read(path: &str) -> String {
    let document = parse(DOCUMENT).expect("valid");
    match Path::compile(path) {
        Err(_) => "!path".to_owned(),
        Ok(path) => match path.read(&document) {
            Ok(found) => found.value.to_string(),
            Err(ReadError::NotFound(_)) => "!not found".to_owned(),
            Err(ReadError::Crash(_)) => "!crash".to_owned(),
            Err(ReadError::TooMuchWork) => "!work".to_owned(),
        },
    }
}

fn check(cases: &[(&str, &str)]) {
    for (path, expect) in cases {
        assert_eq!(read(path), *expect, "{path}");
    }
}

#[test]
fn names_and_indices() {
    check(&[
        ("$.i", "5"),
        ("i", "5"),
        ("$.d", "2.5"),
        ("$.e", "1000"),
        ("$.big", "12345678901234567890"),
        ("$.arr", "[3,1.50,2e1]"),
        ("$.arr[1]", "1.50"),
        ("$.arr[-1]", "2e1"),
        ("$.arr[3]", "!not found"),
        ("$.arr[-4]", "!not found"),
        ("$.arr[0,2]", "[3,2e1]"),
        ("$.arr[0, 2 ,]", "[3,2e1]"),
        ("$.arr[0,9]", "[3]"),
        ("$['s']", "\"abc\""),
        ("$[\"a.b\"]", "\"dot\""),
        ("$['sp ace']", "\"sp\""),
        ("$['q\\'']", "1"),
        ("$.o['a','b']", "{\"a\":1,\"b\":\"x\"}"),
        ("$.o['a','zz']", "{\"a\":1}"),
        ("$['o','nested']['a','x']", "[{\"a\":1},{\"x\":{\"y\":{\"z\":9}}}]"),
        ("$.nul", "null"),
        ("$.missing", "!not found"),
        ("$.missing.deeper", "!not found"),
        ("$.s.x", "!not found"),
        ("$.nul.x", "!not found"),
        ("$.nul[0]", "!not found"),
        ("$.arr['x']", "!not found"),
        ("$.o[0]", "!not found"),
        ("$.rows[1][0]", "3"),
        ("$.mix[5].k", "1"),
        ("$.mix[3]", "null"),
    ]);
}

#[test]
fn slices_wildcards_and_scans() {
    check(&[
        ("$.arr[0:2]", "[3,1.50]"),
        ("$.arr[0:3:2]", "[3,1.50,2e1]"),
        ("$.arr[1:]", "[1.50,2e1]"),
        ("$.arr[-1:]", "[2e1]"),
        ("$.arr[:2]", "[3,1.50]"),
        ("$.arr[:-1]", "[3,1.50]"),
        ("$.arr[-2:-1]", "[1.50]"),
        ("$.arr[-1:1]", "[2e1,3]"),
        ("$.arr[2:1]", "[]"),
        ("$.arr[:]", "!path"),
        ("$.arr[::2]", "!path"),
        ("$.empty[0:1]", "[]"),
        ("$.s[0:1]", "!not found"),
        ("$.o.*", "[1,\"x\"]"),
        ("$.o[*]", "[1,\"x\"]"),
        ("$.arr[*]", "[3,1.50,2e1]"),
        ("$.s.*", "[]"),
        ("$.list[*].n", "[1,2,3]"),
        ("$.list[*].gone", "[null]"),
        ("$..n", "[1,2,3]"),
        ("$..z", "[9]"),
        ("$.nested..*", "[{\"y\":{\"z\":9}},{\"z\":9},9]"),
        ("$..x", "[{\"y\":{\"z\":9}}]"),
        ("$.rows..[0]", "[[1,2],1,3]"),
        // More follows the index, so every element is taken.
        ("$.list..[0].n", "[1,2,3]"),
        ("$..nothing", "[]"),
        ("$.list[0,1].v", "[\"x\",\"y y\"]"),
    ]);
}

#[test]
fn filters() {
    check(&[
        ("$.list[?(@.n > 1)].v", "[\"y y\",\"z\"]"),
        ("$.list[?(@.n==1&&@.v=='x')].n", "[1]"),
        ("$.list[?(@.n==1||@.v==\"z\")].n", "[1,3]"),
        ("$.list[?(!(@.n==1))].n", "[2,3]"),
        ("$.list[?(@.n)].n", "[1,2,3]"),
        ("$.list[?(@.gone)].n", "[3]"),
        ("$.list[?(!@.gone)].n", "[1,2]"),
        ("$.list[?(@.gone==null)].n", "[3]"),
        ("$.list[?(@.missing==null)].n", "[]"),
        ("$.list[?(@.missing!=5)].n", "[1,2,3]"),
        ("$.list[?(@.n=='2')].n", "[2]"),
        ("$.list[?('2.0'==@.n)].n", "[]"),
        ("$.list[?(@.n=='2.0')].n", "[2]"),
        ("$.list[?(@.n==='2')].n", "[]"),
        ("$.list[?(@.p>=12.5)].n", "[2,3]"),
        ("$.list[?(@.v>'x')].n", "[2,3]"),
        ("$.list[?(@.n<'2')].n", "[1]"),
        ("$.list[?(@.v=~/y.*/)].n", "[2]"),
        ("$.list[?(@.v=~/Y Y/i)].n", "[2]"),
        ("$.list[?(@.v=~/y/)].n", "[]"),
        ("$.list[?(/x|z/=~@.v)].n", "[1,3]"),
        ("$.list[?(@.tags=~/b/)].n", "[1]"),
        ("$.list[?(@.v=~/y.*/&&@.n==2)].n", "!path"),
        ("$.list[?(@.n in [1,3])].n", "[1,3]"),
        ("$.list[?(@.n nin [1,3])].n", "[2]"),
        ("$.list[?(@.v IN ['x','q'])].n", "[1]"),
        ("$.list[?(@.v in $.strs)].n", "[]"),
        ("$.list[?(@.tags size 2)].n", "[1]"),
        ("$.list[?(@.v size 1)].n", "[1,3]"),
        ("$.list[?(@.tags empty true)].n", "[2]"),
        ("$.list[?(@.tags empty false)].n", "[1]"),
        ("$.list[?(@.tags contains 'a')].n", "[1]"),
        ("$.list[?(@.v contains ' ')].n", "[2]"),
        ("$.list[?(@.tags subsetof ['a','b','c'])].n", "[1,2]"),
        ("$.list[?(@.tags anyof ['b'])].n", "[1]"),
        ("$.list[?(@.tags noneof ['b'])].n", "[2]"),
        ("$.list[?(@.tags==['a','b'])].n", "[1]"),
        ("$[?(@.arr==[3,1.5,20])].i", "[]"),
        ("$[?(@.arr==[3.0,1.5,20.0])].i", "[5]"),
        ("$.list[?(@.tags all ['a'])].n", "[]"),
        ("$.list[?(@.n type 'x')].n", "[]"),
        ("$.list[?(@.n==$.list[1].n)].v", "[\"y y\"]"),
        ("$.list[?(@.tags.length()==2)].n", "[1]"),
        ("$.list[?(@..tags.length()==2)].n", "[1]"),
        // Without blanks and comparison the two are one path.
        ("$.list[?(@.n&&@.v)].n", "[]"),
        ("$.list[?(@.n && @.v)].n", "[1,2,3]"),
        ("$.strs[?(@=='a')]", "[\"a\"]"),
        ("$.arr[?(@>2)]", "[3,2e1]"),
        ("$.rows[?(@[0]==3)]", "[[3,4]]"),
        ("$.o[?(@.a==1)].b", "[\"x\"]"),
        ("$.list[?(@.n>=1)][0]", "[]"),
        ("$.list[?($.i)].n", "[]"),
        ("$.s[?(@.a==1)]", "!crash"),
        ("$..[?(@.n==2)].v", "[\"y y\"]"),
        ("$.list[?(@.tags)]..tags[0]", "[\"a\"]"),
        ("$.list[?(@.n==1 and @.v=='x')]", "!path"),
        ("$.list[?(1)]", "!path"),
        ("$.list[?()]", "!path"),
        ("$.list[?(@.n==)]", "!path"),
        ("$.list[?(@.n==1]", "!path"),
        ("$.list[?(@.o empty true)].n", "[]"),
        ("$[?(@.o empty true)]", "!crash"),
        ("$.list[?(@.v in [['x']])]", "!crash"),
    ]);
}

#[test]
fn functions() {
    check(&[
        ("$.arr.length()", "3"),
        ("$.length()", "21"),
        ("$.o.size()", "2"),
        ("$.s.length()", "null"),
        ("$.arr.sum()", "24.5"),
        ("$.arr.min()", "1.5"),
        ("$.arr.max()", "20.0"),
        ("$.neg.max()", "4.9E-324"),
        ("$.mix.avg()", "1.75"),
        ("$.neg.stddev()", "1.0"),
        ("$.empty.sum()", "!crash"),
        ("$.s.sum()", "!crash"),
        ("$.list[*].n.sum()", "!crash"),
        ("$.list..n.sum()", "!crash"),
        ("$..n.sum()", "6.0"),
        ("$..n.length()", "0"),
        ("$..tags.length()", "2"),
        ("$..missing.sum()", "!crash"),
        ("$.arr.first()", "3"),
        ("$.arr.last()", "20"),
        ("$.one.first()", "7"),
        ("$.one.last()", "!crash"),
        ("$.empty.first()", "!crash"),
        ("$.rows[0].first()", "1"),
        ("$.o.keys()", "[\"a\",\"b\"]"),
        ("$.arr.keys()", "null"),
        ("$.strs.concat()", "\"ab\""),
        ("$.strs.concat($.s, $.strs[0])", "\"ababca\""),
        ("$.strs.append(\"c\")", "[\"a\",\"b\",\"c\"]"),
        ("$.list[*].tags.length()", "[2,0]"),
        ("$.sum($.arr)", "24.5"),
        ("$.length($.arr)", "3"),
        ("$.arr.nope()", "!crash"),
        ("$.arr.length().x", "!not found"),
        ("$.arr.index($.neg[1])", "20"),
        ("$.arr.index(0)", "!crash"),
    ]);
}

#[test]
fn texts_that_are_no_paths() {
    for path in [
        "",
        "$.",
        "$..",
        "$x",
        "$.a.",
        "$...a",
        "$.a b",
        "$.[",
        "$[",
        "$[]",
        "$['a'",
        "$['a'x]",
        "$['a',]",
        "$['a',,'b']",
        "$[1",
        "$[1-2]",
        "$[99999999999]",
        "$[true]",
        "$[1:2:x]",
        "$.f(",
        "$.f(1",
        "$[?]",
        "$[*",
        "$[*x]",
        "$.a[?(@.b=='x)]",
    ] {
        assert!(Path::compile(path).is_err(), "{path}");
    }
    let deep = "$".to_owned() + &"[?(@".repeat(200) + &")]".repeat(200);
    assert!(Path::compile(&deep).is_err());
    assert!(Path::compile(&format!("$[?({}@.a{})]", "(".repeat(5000), ")".repeat(5000))).is_err());
    assert!(Path::compile(&("$".to_owned() + &".a".repeat(5000))).is_err());
}

#[test]
fn holders_and_kinds_follow_from_the_place() {
    let document = parse(DOCUMENT).expect("valid");
    let found = |path: &str| Path::compile(path).expect(path).read(&document).expect(path);
    let number = |path: &str| found(path).value.as_number().cloned();
    assert_eq!(found("$").holder, Holder::Root);
    assert!(matches!(found("$.o").value, Cow::Borrowed(Json::Object(_))));
    assert_eq!((found("$.i").holder, number("$.i")), (Holder::Member, Some(Number::Long(5))));
    assert_eq!((found("$.arr[0]").holder, number("$.arr[0]")), (Holder::Element, Some(Number::lazy("3"))));
    assert_eq!(found("$..n").holder, Holder::Matches);
    assert_eq!(
        (found("$.arr.length()").holder, number("$.arr.length()")),
        (Holder::Computed, Some(Number::Long(3)))
    );
    assert_eq!(number("$.arr.first()"), Some(Number::Long(3)));
    assert_eq!(number("$.arr.sum()"), Some(Number::Double(24.5)));
    let lone = Json::Number(Number::lazy("7"));
    let root = Path::compile("$").expect("valid").read(&lone).map(|found| found.value.into_owned());
    assert_eq!(root, Ok(lone.clone()));
}

#[test]
fn definite_and_function_paths_are_told() {
    for (path, definite, function) in [
        ("$.a[0]['b']", true, false),
        ("$['a','b']", true, false),
        ("$['a','b'].c", false, false),
        ("$.a[0,1]", false, false),
        ("$..a", false, false),
        ("$.a.length()", true, true),
        ("$..a.sum()", true, true),
        ("$.a[*].length()", false, true),
    ] {
        let compiled = Path::compile(path).expect(path);
        assert_eq!((compiled.is_definite(), compiled.is_function_path()), (definite, function), "{path}");
    }
}

#[test]
fn work_and_depth_are_bounded() {
    let wide = Json::Array((0..3000).map(|_| parse("{\"a\":[1,2,3]}").expect("valid")).collect());
    let blowup = Path::compile("$..[?(@..a.length() > $..a.length())]").expect("valid");
    assert_eq!(blowup.read(&wide), Err(ReadError::TooMuchWork));
    let deep = parse(&("{\"a\":".repeat(500) + "1" + &"}".repeat(500))).expect("valid");
    for path in ["$..*", "$..a..a..a", "$..[?(@..a)]..a"] {
        let result = Path::compile(path).expect(path).read(&deep);
        assert!(matches!(result, Ok(Found { .. }) | Err(ReadError::TooMuchWork)), "{path}: {result:?}");
    }
}

proptest! {
    #[test]
    fn no_path_panics(path in "\\$?[.\\[\\]()?@$*:,'\"a-c0-3=~<>!&|/ -]{0,24}") {
        let _ = read(&path);
    }

    #[test]
    fn no_filter_panics(filter in "[@$.a-c\\[\\]()0-3=~<>!&|/' ]{0,16}", tail in "(\\.\\.|\\.)?[a-c]?(\\(\\))?") {
        let _ = read(&format!("$.list[?({filter})]{tail}"));
    }
}
