//! Operators and the kinds of their operands: nothing is converted, and what does not fit fails.

use super::env::Wanted;
use super::kind::{Atom, Kind};
use super::operators;
use super::texts::auto_text;
use super::{Look, around, codes, paths};
use crate::diagnostic::Edit;
use crate::expr::ast::{Node, NodeKind, Operator, StepKind};

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let NodeKind::Binary { operator, left, right, .. } = &node.kind else { return };
    if look.is_muted(node) {
        return;
    }
    let pair = Pair { node, operator: *operator, left, right, kinds: [look.kind(left), look.kind(right)] };
    let [a, b] = pair.kinds;
    if a.is_never() || b.is_never() {
        return;
    }
    if matches!(operator, Operator::Divide | Operator::Modulo) && zero(right) {
        let message = format!("`{}` by zero always fails", operator.symbol());
        look.report(codes::ZERO_DIVISION, right.span, message);
        return;
    }
    let outcome = operators::outcome(*operator, a, b);
    if outcome.always_fails() {
        pair.fails(look);
        return;
    }
    match operator {
        Operator::Add if a.is(Kind::TEXT) => pair.auto(right, look),
        Operator::Add if b.is(Kind::TEXT) => pair.auto(left, look),
        _ => {}
    }
    pair.nodes(look);
    pair.probably_long(look);
    pair.elements(look);
    if *operator == Operator::Divide {
        pair.division(look);
    }
    pair.overflow(look);
}

struct Pair<'a> {
    node: &'a Node,
    operator: Operator,
    left: &'a Node,
    right: &'a Node,
    kinds: [Kind; 2],
}

impl<'a> Pair<'a> {
    fn operands(&self) -> [(&'a Node, Kind); 2] {
        let [a, b] = self.kinds;
        [(self.left, a), (self.right, b)]
    }

    /// Reports why it always fails.
    fn fails(&self, look: &mut Look<'_>) {
        if let Some((operand, _)) = self.operands().into_iter().find(|(_, kind)| kind.is(Kind::NULL)) {
            self.null(operand, look);
            return;
        }
        if let Some((operand, _)) =
            self.operands().into_iter().find(|(node, kind)| kind.is(Kind::ARRAY) && is_many(node))
        {
            let message = format!(
                "`{}` gives a list of matches, which `{}` does not take: pick one with `array(…)[0]`",
                look.text(operand),
                self.operator.symbol()
            );
            look.report(codes::MANY_AS_ONE, operand.span, message)
                .review("Take the first match", around(operand, "array(", ")[0]"));
            return;
        }
        match self.operator {
            Operator::And | Operator::Or => self.logical(look),
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                self.order(look);
            }
            Operator::Add if self.kinds.iter().any(|kind| kind.is(Kind::TEXT)) => self.text(look),
            _ => self.arithmetic(look),
        }
    }

    fn null(&self, operand: &Node, look: &mut Look<'_>) {
        let map = matches!(&operand.ungrouped().kind, NodeKind::Variable(_))
            && look.kind(operand).is(Kind::one(Atom::Map));
        if map {
            return;
        }
        let message = format!("`{}` fails when one of its operands is null", self.operator.symbol());
        look.report(codes::NULL_OPERAND, operand.span, message);
    }

    fn logical(&self, look: &mut Look<'_>) {
        if self.default(look) {
            return;
        }
        for (operand, kind) in self.operands() {
            if !kind.cannot_be(Kind::BOOLEAN) {
                continue;
            }
            let text = kind.may_be(Kind::TEXT);
            let reason = if text && !kind.is(Kind::TEXT) { ", even when its text is `true`" } else { "" };
            let message = format!(
                "`{}` joins booleans, and this is {}{reason}",
                self.operator.symbol(),
                kind.without(Kind::NULL)
            );
            let finding = look.report(codes::LOGICAL_KIND, operand.span, message);
            if text {
                finding.review("Read it as a boolean", around(operand, "boolean(", ")"));
            }
        }
    }

    /// `x || 'default'`, as other languages have it.
    fn default(&self, look: &mut Look<'_>) -> bool {
        let literal = matches!(self.right.ungrouped().kind, NodeKind::Text(_) | NodeKind::Number(_));
        let reads = matches!(
            self.left.ungrouped().kind,
            NodeKind::Payload(_) | NodeKind::Variable(_) | NodeKind::Lookup(_)
        );
        if self.operator != Operator::Or || !literal || !reads {
            return false;
        }
        let (value, default) = (look.text(self.left).to_owned(), look.text(self.right).to_owned());
        let text = format!("exists({value}) ? {value} : {default}");
        let message = format!("`or` joins booleans and gives no default: write `{text}`");
        let edit = look.conditional(self.node, text.clone());
        look.report(codes::LOGICAL_KIND, self.node.span, message)
            .review(format!("Write `{text}`"), vec![edit]);
        true
    }

    fn order(&self, look: &mut Look<'_>) {
        let sign = self.operator.symbol();
        let wrong = self.operands().into_iter().find(|(_, kind)| kind.cannot_be(Kind::NUMERIC));
        if let Some((operand, kind)) = wrong {
            let message = format!("`{sign}` compares numbers, and this is {}", kind.without(Kind::NULL));
            look.report(codes::ORDER_KIND, operand.span, message);
            return;
        }
        let long = self.operands().into_iter().find(|(_, kind)| kind.cannot_be(Kind::NUMBER));
        let Some((long, _)) = long else {
            // Each may be a number, but never both: a long on one side for every number on the other.
            look.report(codes::LONG_ORDER, self.node.span, format!("`{sign}` does not know longs"));
            return;
        };
        if let Some(inner) = counted(long) {
            let counted = inner.of(look.source).to_owned();
            let message = format!(
                "`.length()` and `.size()` give a long, which `{sign}` does not know: write `length({counted})`"
            );
            look.report(codes::LENGTH_ORDER, long.span, message).safe(
                format!("Write `length({counted})`"),
                vec![Edit::replace(long.span, format!("length({counted})"))],
            );
            return;
        }
        let message = format!("`{sign}` knows ints and doubles, and this is a long: wrap it in `float()`");
        let edits = around(long, "float(", ")");
        look.report(codes::LONG_ORDER, long.span, message).safe("Wrap it in `float()`", edits);
    }

    /// `xpath()` where the value itself is wanted.
    fn nodes(&self, look: &mut Look<'_>) {
        if look.env().wanted != Wanted::Object
            || matches!(self.operator, Operator::Equal | Operator::NotEqual)
        {
            return;
        }
        for (operand, kind) in self.operands() {
            if kind.is(Kind::of(&[Atom::Text, Atom::Nodes])) && kind.may_be(Kind::one(Atom::Nodes)) {
                let message = format!(
                    "where the value itself is wanted `xpath()` gives nodes, which `{}` does not take: give the variable the type STRING",
                    self.operator.symbol()
                );
                look.report(codes::XPATH_OBJECT, operand.span, message);
            }
        }
    }

    /// `now() - x` is a long for every x but a double.
    fn probably_long(&self, look: &mut Look<'_>) {
        if !matches!(
            self.operator,
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual
        ) {
            return;
        }
        for (operand, kind) in self.operands() {
            let numbers = kind.and(Kind::NUMERIC);
            if !numbers.may_be(Kind::LONG) || numbers.may_be(Kind::INT) {
                continue;
            }
            let message = format!(
                "`{}` knows ints and doubles, and this is a long unless a double takes part in it: wrap it in `float()`",
                self.operator.symbol()
            );
            look.report(codes::LONG_ORDER, operand.span, message)
                .at_most(crate::diagnostic::Severity::Warning)
                .safe("Wrap it in `float()`", around(operand, "float(", ")"));
        }
    }

    fn text(&self, look: &mut Look<'_>) {
        for (operand, kind) in self.operands() {
            if kind.may_be(Kind::TEXT) {
                continue;
            }
            let message =
                format!("a string and {} cannot be added: write `string(…)`", kind.without(Kind::NULL));
            look.report(codes::TEXT_PLUS_NUMBER, operand.span, message)
                .review("Wrap it in `string()`", around(operand, "string(", ")"));
        }
    }

    fn arithmetic(&self, look: &mut Look<'_>) {
        let fits = |kind: Kind| kind.may_be(Kind::NUMERIC);
        let wrong = self.operands().into_iter().find(|(_, kind)| !fits(*kind));
        let Some((operand, kind)) = wrong else { return };
        let what = kind.without(Kind::NULL);
        let message = format!("`{}` takes numbers, and this is {what}", self.operator.symbol());
        let convert = kind.is(Kind::TEXT);
        let finding = look.report(codes::ARITHMETIC_KIND, operand.span, message);
        if convert {
            finding.review("Read it as a number", around(operand, "float(", ")"));
        }
    }

    /// A text and something that is a number when its text reads as one.
    fn auto(&self, other: &Node, look: &mut Look<'_>) {
        let kind = look.kind(other);
        let Some(name) = auto_text(other) else { return };
        if kind.is_open() || kind.is(Kind::TEXT) {
            return;
        }
        let message = format!(
            "this fails when {name} reads as a number, such as 42, because it is then one: write `string(…)`"
        );
        look.report(codes::TEXT_PLUS_AUTO, other.span, message)
            .safe("Wrap it in `string()`", around(other, "string(", ")"));
    }

    /// Numbers of arrays are doubles.
    fn elements(&self, look: &mut Look<'_>) {
        if !matches!(
            self.operator,
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Modulo
        ) {
            return;
        }
        let [(left, a), (right, b)] = self.operands();
        for (operand, kind, other) in [(left, a, b), (right, b, a)] {
            let numbers = kind.and(Kind::NUMERIC);
            let element = numbers.is(Kind::of(&[Atom::ElementInt, Atom::ElementDouble]));
            if !element
                || !other.is(Kind::of(&[Atom::Int, Atom::Long, Atom::MemberInt]))
                || !has_path(operand)
            {
                continue;
            }
            let message =
                "a number in an array counts as a double, so the result has a decimal point: 1 + 1 is 2.0";
            look.report(codes::ELEMENT_ARITHMETIC, operand.span, message)
                .review("Make it an int", around(operand, "integer(", ")"));
        }
    }

    /// A double among the operands rounds the quotient.
    fn division(&self, look: &mut Look<'_>) {
        let double = |kind: Kind| kind.is(Kind::of(&[Atom::Double, Atom::MemberDouble]));
        let [a, b] = self.kinds;
        if !double(a) && !double(b) {
            return;
        }
        let written = |node: &Node| match &node.ungrouped().kind {
            NodeKind::Number(text) => Some(text.clone()),
            _ => None,
        };
        let (left, right) = (written(self.left), written(self.right));
        if let (Some(left), Some(right)) = (&left, &right)
            && is_exact(left, right)
        {
            return;
        }
        let message = "with a double the quotient is rounded to as many decimals as the left operand has: 10.0 / 3 is 3.3";
        let whole = |text: &str| {
            text.split_once('.')
                .filter(|(_, rest)| rest.bytes().all(|byte| byte == b'0'))
                .map(|(whole, _)| whole.to_owned())
        };
        let ints: Option<Vec<Edit>> = [(self.left, &left), (self.right, &right)]
            .into_iter()
            .filter(|(node, _)| double(look.kind(node)))
            .map(|(node, text)| text.as_deref().and_then(whole).map(|text| Edit::replace(node.span, text)))
            .collect();
        let finding = look.report(codes::DECIMAL_DIVISION, self.node.span, message);
        if let Some(edits) = ints {
            finding.review("Divide integers", edits);
        }
    }

    /// Literals whose result does not fit.
    fn overflow(&self, look: &mut Look<'_>) {
        let whole = |node: &Node| match &node.ungrouped().kind {
            NodeKind::Number(text) => text.parse::<i64>().ok(),
            _ => None,
        };
        let (Some(a), Some(b)) = (whole(self.left), whole(self.right)) else { return };
        let (a, b) = (i128::from(a), i128::from(b));
        let (result, promotes) = match self.operator {
            Operator::Add => (a + b, true),
            Operator::Subtract => (a - b, false),
            Operator::Multiply => (a * b, true),
            _ => return,
        };
        let ints = [a, b].iter().all(|one| i32::try_from(*one).is_ok());
        let fits =
            if ints && !promotes { i32::try_from(result).is_ok() } else { i64::try_from(result).is_ok() };
        if !fits {
            let size = if ints && !promotes { "an int" } else { "a long" };
            let message = format!("the result {result} does not fit into {size} and wraps round silently");
            look.report(codes::OVERFLOW, self.node.span, message);
        }
    }
}

/// Whether rounding to the decimals of the left number changes nothing.
fn is_exact(left: &str, right: &str) -> bool {
    let (Ok(a), Ok(b)) = (left.parse::<f64>(), right.parse::<f64>()) else { return false };
    let printed = format!("{a:?}");
    let places = printed.split_once('.').map_or(1, |(_, rest)| rest.len());
    let quotient = a / b;
    let rounded = format!("{quotient:.places$}");
    rounded.parse::<f64>().is_ok_and(|rounded| (rounded - quotient).abs() < f64::EPSILON)
}

/// Whether a node is the literal zero.
fn zero(node: &Node) -> bool {
    match &node.ungrouped().kind {
        NodeKind::Number(text) => text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-')),
        _ => false,
    }
}

/// What is counted by `.length()` or `.size()` at the end of a path.
fn counted(node: &Node) -> Option<crate::text::Span> {
    let node = node.ungrouped();
    let step = paths::path_of(&node.kind)?.steps.last()?;
    let counts = matches!(&step.kind, StepKind::Aggregate(name) if matches!(&**name, "length()" | "size()"));
    counts.then(|| crate::text::Span::new(node.span.start, step.span.start))
}

/// Whether a node is a path that gives a list of matches.
pub(super) fn is_many(node: &Node) -> bool {
    let path = paths::path_of(&node.ungrouped().kind);
    path.is_some_and(|path| !paths::is_definite(path) && !path.steps.last().is_some_and(paths::is_aggregate))
}

fn has_path(node: &Node) -> bool {
    paths::path_of(&node.ungrouped().kind).is_some()
}
