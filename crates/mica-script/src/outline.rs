//! What a source consists of: its functions, what they return, and its types. For those who change a part of a source
//! and keep the rest.

use std::ops::Range;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Declaration, Expression, Function, ObjectExpression, ObjectPropertyKind, PropertyKey, Statement,
    TSLiteral, TSSignature, TSType, TSTypeName,
};
use oxc_span::{GetSpan, Span};

use crate::deep;
use crate::error::ScriptError;
use crate::strip::parse;

/// What a source consists of, in the order of the source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outline {
    /// Functions that have a name, outside of others.
    pub functions: Vec<FunctionOutline>,
    /// Interfaces and named types.
    pub types: Vec<TypeOutline>,
    /// Variables, classes and enums, outside of functions. What is only declared is none.
    pub values: Vec<ValueOutline>,
}

/// A statement that makes values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOutline {
    /// Their names.
    pub names: Vec<String>,
    /// All of it, without `export`.
    pub at: Range<usize>,
}

/// One function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionOutline {
    /// Its name.
    pub name: String,
    /// All of it, without `export`.
    pub at: Range<usize>,
    /// What is between its braces.
    pub body: Range<usize>,
    /// The types of its parameters, where they say one.
    pub parameters: Vec<Option<TypeShape>>,
    /// The type it returns, if it says one.
    pub returns: Option<TypeShape>,
    /// How many statements it has.
    pub statements: usize,
    /// The object that its last statement returns, if that is one.
    pub returned: Option<Literal>,
}

/// An object, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    /// All of it, with its braces.
    pub at: Range<usize>,
    /// Its members.
    pub members: Vec<LiteralMember>,
    /// Whether it takes in the members of other objects (`...a`), so that it may have more of them.
    pub has_spread: bool,
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct LiteralMember {
    /// Its name.
    pub name: String,
    /// All of it: `name: value`.
    pub at: Range<usize>,
    /// Its value, when that is an object again.
    pub inner: Option<Literal>,
}

/// A named type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeOutline {
    /// Its name.
    pub name: String,
    /// All of it.
    pub at: Range<usize>,
    /// The comment before it, without its marks.
    pub comment: Option<String>,
    /// What it is.
    pub shape: TypeShape,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeShape {
    /// `string`
    String,
    /// `number`
    Number,
    /// `boolean`
    Boolean,
    /// `null` or `undefined`
    Null,
    /// A value that is written out: `"a"`, `1`, `true`.
    Exactly(serde_json::Value),
    /// `a[]`
    List(Box<TypeShape>),
    /// `{ a: b }`
    Object(Vec<TypeMember>),
    /// `a | b`
    OneOf(Vec<TypeShape>),
    /// Another named type.
    Named(String),
    /// Anything else, `any` included.
    Any,
}

/// One member of an object type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeMember {
    /// Its name.
    pub name: String,
    /// Whether it may be missing.
    pub is_optional: bool,
    /// Its type.
    pub shape: TypeShape,
}

/// Objects within objects, and types within types, that are told. Deeper ones are told as anything: those who read an
/// outline go through it by calling themselves.
const DEEPEST: usize = 100;

/// Tells what a source consists of.
///
/// # Errors
/// [`ScriptError::Syntax`].
pub fn outline(source: &str, name: &str) -> Result<Outline, ScriptError> {
    let name = name.to_owned();
    deep::enough(source, move |source| {
        let allocator = Allocator::default();
        let parsed = parse(&allocator, source, &name)?;
        let mut outline = Outline::default();
        let comments = &parsed.program.comments;
        for statement in &parsed.program.body {
            let start = statement.span().start;
            // The last comment with nothing but blanks behind it.
            let comment = comments.iter().rev().find(|comment| {
                let between = comment.span.end as usize..start as usize;
                comment.span.end <= start && source.get(between).is_some_and(|text| text.trim().is_empty())
            });
            let comment = comment.and_then(|comment| source.get(range(comment.content_span())));
            read(statement, comment, &mut outline);
        }
        Ok(outline)
    })
}

fn read(statement: &Statement<'_>, comment: Option<&str>, outline: &mut Outline) {
    let declaration = match statement {
        Statement::ExportDeclaration(export) => Some(&export.declaration),
        other => other.as_declaration(),
    };
    let (name, span, shape) = match declaration {
        Some(Declaration::FunctionDeclaration(function)) => {
            outline.functions.extend(read_function(function));
            return;
        }
        Some(Declaration::TSInterfaceDeclaration(found)) => {
            (found.id.name.to_string(), found.span, members(&found.body.body, 0))
        }
        Some(Declaration::TSTypeAliasDeclaration(found)) => {
            (found.id.name.to_string(), found.span, shape(&found.type_annotation, 0))
        }
        Some(other) => {
            if !other.declare() {
                let names = bound(other);
                outline.values.push(ValueOutline { names, at: range(other.span()) });
            }
            return;
        }
        None => return,
    };
    outline.types.push(TypeOutline { name, at: range(span), comment: comment.map(str::to_owned), shape });
}

/// The names that a declaration makes.
fn bound(declaration: &Declaration<'_>) -> Vec<String> {
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            let names = variables.declarations.iter().flat_map(|one| one.id.get_binding_identifiers());
            names.map(|one| one.name.to_string()).collect()
        }
        other => other.id().map(|id| id.name.to_string()).into_iter().collect(),
    }
}

fn read_function(function: &Function<'_>) -> Option<FunctionOutline> {
    let (id, body) = (function.id.as_ref()?, function.body.as_ref()?);
    let braces = range(body.span);
    let returned = match body.statements.last() {
        Some(Statement::ReturnStatement(last)) => last.argument.as_ref().and_then(|said| literal(said, 0)),
        _ => None,
    };
    let parameters = function.params.items.iter();
    Some(FunctionOutline {
        name: id.name.to_string(),
        at: range(function.span),
        body: braces.start + 1..braces.end.saturating_sub(1),
        parameters: parameters
            .map(|one| one.type_annotation.as_ref().map(|said| shape(&said.type_annotation, 0)))
            .collect(),
        returns: function.return_type.as_ref().map(|said| shape(&said.type_annotation, 0)),
        statements: body.statements.len(),
        returned,
    })
}

fn literal(expression: &Expression<'_>, depth: usize) -> Option<Literal> {
    if depth > DEEPEST {
        return None;
    }
    match expression.get_inner_expression() {
        Expression::ObjectExpression(object) => Some(object_literal(object, depth)),
        _ => None,
    }
}

fn object_literal(object: &ObjectExpression<'_>, depth: usize) -> Literal {
    let mut read = Literal { at: range(object.span), members: Vec::new(), has_spread: false };
    for member in &object.properties {
        let found = match member {
            ObjectPropertyKind::ObjectProperty(property) => {
                let name = property.key.static_name().filter(|_| !property.computed);
                name.map(|name| (name, property))
            }
            ObjectPropertyKind::SpreadProperty(_) => None,
        };
        match found {
            Some((name, property)) => read.members.push(LiteralMember {
                name: name.into_owned(),
                at: range(property.span),
                inner: literal(&property.value, depth + 1),
            }),
            None => read.has_spread = true,
        }
    }
    read
}

fn shape(found: &TSType<'_>, depth: usize) -> TypeShape {
    if depth > DEEPEST {
        return TypeShape::Any;
    }
    let shape = |found| shape(found, depth + 1);
    match found {
        TSType::TSStringKeyword(_) | TSType::TSTemplateLiteralType(_) => TypeShape::String,
        TSType::TSNumberKeyword(_) => TypeShape::Number,
        TSType::TSBooleanKeyword(_) => TypeShape::Boolean,
        TSType::TSNullKeyword(_) | TSType::TSUndefinedKeyword(_) => TypeShape::Null,
        TSType::TSArrayType(list) => TypeShape::List(Box::new(shape(&list.element_type))),
        TSType::TSTypeLiteral(object) => members(&object.members, depth),
        TSType::TSUnionType(union) => TypeShape::OneOf(union.types.iter().map(shape).collect()),
        TSType::TSParenthesizedType(inner) => shape(&inner.type_annotation),
        TSType::TSLiteralType(literal) => match &literal.literal {
            TSLiteral::StringLiteral(text) => TypeShape::Exactly(text.value.as_str().into()),
            TSLiteral::NumericLiteral(number) => TypeShape::Exactly(number.value.into()),
            TSLiteral::BooleanLiteral(truth) => TypeShape::Exactly(truth.value.into()),
            _ => TypeShape::Any,
        },
        TSType::TSTypeReference(reference) => {
            let TSTypeName::IdentifierReference(name) = &reference.type_name else { return TypeShape::Any };
            let argument = reference.type_arguments.as_ref().and_then(|given| given.params.first());
            match (name.name.as_str(), argument) {
                ("Array" | "ReadonlyArray", Some(of)) => TypeShape::List(Box::new(shape(of))),
                (_, Some(_)) => TypeShape::Any,
                (name, None) => TypeShape::Named(name.to_owned()),
            }
        }
        _ => TypeShape::Any,
    }
}

fn members(found: &[TSSignature<'_>], depth: usize) -> TypeShape {
    let read = found.iter().filter_map(|member| {
        let TSSignature::TSPropertySignature(property) = member else { return None };
        let name = match &property.key {
            PropertyKey::StaticIdentifier(name) => name.name.to_string(),
            key => key.static_name()?.into_owned(),
        };
        let shape = property
            .type_annotation
            .as_ref()
            .map_or(TypeShape::Any, |said| shape(&said.type_annotation, depth + 1));
        Some(TypeMember { name, is_optional: property.optional, shape })
    });
    TypeShape::Object(read.collect())
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"/*
* title : "root",
*/
interface Root {
  a: string
  "b c"?: (number | null)[]
  d: { e: Array<Other> }
}

type Other = "x" | 1;
declare var GIVEN: any;
const { x, y: [z] } = { x: 1, y: [2] };
export enum Size { Small }

export function mapFunction(input: Root): Root[] {
  const a = 1;
  return {
    a: input.a,
    d: { e: [], ...input.d },
    "b c": f(),
  };
}
"#;

    fn text(range: &Range<usize>) -> &'static str {
        &SOURCE[range.clone()]
    }

    #[test]
    fn functions_and_what_they_return() {
        let outline = outline(SOURCE, "a.ts").unwrap();
        let [function] = outline.functions.as_slice() else { panic!("{outline:?}") };
        assert_eq!((function.name.as_str(), function.statements), ("mapFunction", 2));
        assert!(
            text(&function.body).starts_with("\n  const a = 1;") && text(&function.body).ends_with("};\n")
        );
        assert_eq!(function.parameters, [Some(TypeShape::Named("Root".to_owned()))]);
        assert_eq!(function.returns, Some(TypeShape::List(Box::new(TypeShape::Named("Root".to_owned())))));
        let returned = function.returned.as_ref().unwrap();
        let members: Vec<(&str, &str)> =
            returned.members.iter().map(|member| (member.name.as_str(), text(&member.at))).collect();
        assert_eq!(
            members,
            [("a", "a: input.a"), ("d", "d: { e: [], ...input.d }"), ("b c", "\"b c\": f()")]
        );
        assert!(!returned.has_spread);
        assert!(returned.members[1].inner.as_ref().unwrap().has_spread);
    }

    #[test]
    fn what_is_very_deep_is_told_as_anything() {
        let lists = format!("type A = number{};", "[]".repeat(5_000));
        let types = outline(&lists, "a.ts").unwrap().types;
        let mut shape = &types[0].shape;
        let mut depth = 0;
        while let TypeShape::List(item) = shape {
            (shape, depth) = (item, depth + 1);
        }
        assert_eq!((shape, depth), (&TypeShape::Any, DEEPEST + 1));
        let objects = format!("function f() {{ return {}1{}; }}", "{a:".repeat(1_000), "}".repeat(1_000));
        assert!(outline(&objects, "a.ts").unwrap().functions[0].returned.is_some());
    }

    #[test]
    fn values_and_their_names() {
        let outline = outline(SOURCE, "a.ts").unwrap();
        let values: Vec<(Vec<&str>, &str)> = outline
            .values
            .iter()
            .map(|one| (one.names.iter().map(String::as_str).collect(), text(&one.at)))
            .collect();
        let variables = "const { x, y: [z] } = { x: 1, y: [2] };";
        assert_eq!(values, [(vec!["x", "z"], variables), (vec!["Size"], "enum Size { Small }")]);
    }

    #[test]
    fn types_and_their_comments() {
        let outline = outline(SOURCE, "a.ts").unwrap();
        let [root, other] = outline.types.as_slice() else { panic!("{outline:?}") };
        assert_eq!(root.comment.as_deref(), Some("\n* title : \"root\",\n"));
        let member =
            |name: &str, is_optional, shape| TypeMember { name: name.to_owned(), is_optional, shape };
        let list = |of| TypeShape::List(Box::new(of));
        assert_eq!(
            root.shape,
            TypeShape::Object(vec![
                member("a", false, TypeShape::String),
                member("b c", true, list(TypeShape::OneOf(vec![TypeShape::Number, TypeShape::Null]))),
                member(
                    "d",
                    false,
                    TypeShape::Object(vec![member("e", false, list(TypeShape::Named("Other".to_owned())))])
                ),
            ])
        );
        let exactly = |value: serde_json::Value| TypeShape::Exactly(value);
        assert_eq!(other.shape, TypeShape::OneOf(vec![exactly("x".into()), exactly(1.0.into())]));
        assert_eq!(other.comment, None);
    }
}
