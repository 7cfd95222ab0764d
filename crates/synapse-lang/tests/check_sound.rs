//! The checker against the evaluator: whatever evaluates gets no error.
//!
//! Expressions are made up from pieces that people use, by a fixed sequence of numbers, and each is evaluated with one
//! message. The checker sees that message's kinds, and then nothing at all; in both cases an error for something that
//! has a value would be wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
#![allow(clippy::print_stdout, reason = "the shares are worth a look")]

use synapse_lang::diagnostic::Severity;
use synapse_lang::expr::check::{Env, check};
use synapse_lang::expr::{Context, Status, evaluate_text};

const CONTEXT: &str = r#"{
    "payload": "{\"i\":5,\"d\":2.5,\"whole\":1.0,\"L\":3000000000,\"neg\":-3000000000,\"big\":12345678901234567890,\"s\":\"abc\",\"ns\":\"5\",\"t\":true,\"f\":false,\"nul\":null,\"o\":{\"a\":1,\"b\":\"x\"},\"arr\":[3,1,2],\"decimals\":[1.5,2],\"strs\":[\"a\",\"b\"],\"mix\":[1,\"x\",null,true,{\"k\":1}],\"list\":[{\"n\":1,\"v\":\"x\"},{\"n\":2,\"v\":\"y\"}],\"json\":\"{\\\"k\\\":[1,2]}\",\"csv\":\"a,b\"}",
    "vars": {
        "i": {"type": "int", "value": 10}, "L": {"type": "long", "value": 5}, "d": {"type": "double", "value": -2.5},
        "s": {"type": "string", "value": "hello"}, "b": {"type": "boolean", "value": true},
        "j": {"type": "json", "value": "{\"a\":{\"b\":[1,2]},\"n\":5}"}, "n": {"type": "json", "value": "7"},
        "map": {"type": "map", "value": {"payload": {"type": "json", "value": "{\"x\":1}"}, "plain": {"type": "string", "value": "t"}}},
        "text": {"type": "string", "value": "{\"a\":1}"}, "x": {"type": "xml", "value": "<a><b>1</b></a>"}
    },
    "headers": {"num": "42", "dec": "1.50", "str": "abc", "zero": "007", "long": "3000000000"},
    "syn": {"uri.var.id": "12", "query.param.q": "text", "flag": "true"},
    "ax": {"HTTP_SC": "404"}, "func": {"p": "v"}, "configs": {"url": "http://h", "n": "5"}
}"#;

const LEAVES: &[&str] = &[
    "0",
    "1",
    "5",
    "-3",
    "3000000000",
    "2.5",
    "1.0",
    "'abc'",
    "'5'",
    "\"\"",
    "'true'",
    "true",
    "false",
    "null",
    "[1,2]",
    "payload",
    "payload.i",
    "payload.d",
    "payload.whole",
    "payload.L",
    "payload.neg",
    "payload.big",
    "payload.s",
    "payload.ns",
    "payload.t",
    "payload.f",
    "payload.nul",
    "payload.o",
    "payload.arr",
    "payload.arr[0]",
    "payload.decimals[0]",
    "payload.decimals[1]",
    "payload.strs[1]",
    "payload.mix[3]",
    "payload.mix[2]",
    "payload.list[0].n",
    "payload.list[*].n",
    "payload.list[?(@.n > 1)].v",
    "payload.arr.length()",
    "payload.arr.sum()",
    "payload.arr.first()",
    "payload.missing",
    "payload.json",
    "payload.csv",
    "payload['s']",
    "$..n",
    "payload.arr[0:2]",
    "payload.o.a",
    "payload.s.length()",
    "vars.i",
    "vars.L",
    "vars.d",
    "vars.s",
    "vars.b",
    "vars.j",
    "vars.n",
    "vars.map",
    "vars.text",
    "vars.x",
    "vars.none",
    "vars.j.n",
    "vars.j.a.b[0]",
    "vars.map.payload.x",
    "vars.map.plain",
    "vars.text.a",
    "vars['s']",
    "vars.i[0]",
    "vars.x.b",
    "headers.num",
    "headers.dec",
    "headers.str",
    "headers.zero",
    "headers.long",
    "headers.none",
    "params.pathParams.id",
    "params.queryParams.q",
    "params.functionParams.p",
    "props.synapse.flag",
    "props.axis2.HTTP_SC",
    "configs.n",
];

const OPERATORS: &[&str] =
    &["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or", "&&", "||"];

const ONE: &[&str] = &[
    "length",
    "toUpper",
    "toLower",
    "trim",
    "abs",
    "ceil",
    "floor",
    "sqrt",
    "log",
    "round",
    "base64encode",
    "urlEncode",
    "isString",
    "isNumber",
    "isArray",
    "isObject",
    "string",
    "integer",
    "float",
    "boolean",
    "object",
    "array",
    "not",
    "exists",
];

const TWO: &[&str] = &[
    "subString",
    "startsWith",
    "endsWith",
    "contains",
    "split",
    "indexOf",
    "charAt",
    "pow",
    "round",
    "log",
    "trim",
    "formatDateTime",
];

/// Numbers from a fixed seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.pick(LEAVES).to_owned();
        }
        match self.below(12) {
            0..=4 => {
                let (left, operator, right) =
                    (self.expression(depth - 1), self.pick(OPERATORS), self.expression(depth - 1));
                format!("{left} {operator} {right}")
            }
            5 => format!("({})", self.expression(depth - 1)),
            6 | 7 => format!("{}({})", self.pick(ONE), self.expression(depth - 1)),
            8 => {
                format!("{}({}, {})", self.pick(TWO), self.expression(depth - 1), self.expression(depth - 1))
            }
            9 => format!(
                "{} ? {} : {}",
                self.expression(depth - 1),
                self.expression(depth - 1),
                self.expression(depth - 1)
            ),
            10 => format!("payload.arr[{}]", self.expression(depth - 1)),
            _ => format!("[{}, {}]", self.expression(depth - 1), self.expression(depth - 1)),
        }
    }
}

#[test]
fn nothing_that_evaluates_is_an_error() {
    let context: Context = serde_json::from_str(CONTEXT).expect("a context");
    let (known, unknown) = (Env::of_sample(&context), Env::default());
    let mut numbers = Numbers(7);
    let (mut values, mut failures, mut found) = (0, 0, 0);
    for round in 0..12_000 {
        let text = numbers.expression(1 + round % 3);
        let answer = evaluate_text(&text, &context);
        if matches!(answer.status, Status::Ok | Status::Null) {
            values += 1;
            for env in [&known, &unknown] {
                let wrong: Vec<_> =
                    check(&text, env).into_iter().filter(|one| one.severity == Severity::Error).collect();
                assert!(wrong.is_empty(), "{text} is {:?} {:?}, but: {wrong:#?}", answer.kind, answer.string);
            }
        } else {
            failures += 1;
            if check(&text, &known).iter().any(|one| one.severity >= Severity::Warning) {
                found += 1;
            } else if failures - found < 40 {
                println!("missed {text}   {:?}", answer.message);
            }
        }
    }
    println!("{values} with a value, {failures} without, {found} of them found");
    assert!(values > 1_000, "only {values} expressions have a value");
    // What is left depends on values, which kinds do not tell: indices, dates, texts that are no numbers.
    assert!(found * 100 >= failures * 97, "only {found} of {failures} found");
}
