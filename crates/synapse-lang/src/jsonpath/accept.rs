//! Whether a filter takes an item.

use super::compare::{self, Value};
use super::evaluate::{Fail, Model, Walk, weight};
use super::filter::{Filter, Operand};

impl<'doc> Walk<'doc> {
    /// Whether a filter takes an item. A filter that is invalid for the item does not take it.
    pub(super) fn accepts(&mut self, filter: &Filter, item: &Model<'doc>) -> Result<bool, Fail> {
        self.charge(1)?;
        match self.holds(filter, item) {
            Err(Fail::Invalid(_) | Fail::NotFound(_)) => Ok(false),
            answer => answer,
        }
    }

    fn holds(&mut self, filter: &Filter, item: &Model<'doc>) -> Result<bool, Fail> {
        match filter {
            Filter::Any(filters) => {
                for filter in filters {
                    if self.holds(filter, item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Filter::All(filters) => {
                for filter in filters {
                    if !self.holds(filter, item)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Filter::Not(filter) => self.holds(filter, item).map(|holds| !holds),
            Filter::Relation(relation) => {
                let left = self.operand(&relation.left, item)?;
                let right = self.operand(&relation.right, item)?;
                compare::holds(&left, relation.operator, &right)
            }
        }
    }

    fn operand<'filter>(
        &mut self,
        operand: &'filter Operand,
        item: &Model<'doc>,
    ) -> Result<Value<'filter>, Fail> {
        Ok(match operand {
            // Whether something exists is asked of the item, even for a path from the root.
            Operand::Path { path, exists: true, .. } => match self.value(path, item, true) {
                Ok(_) => Value::Bool(true),
                Err(Fail::NotFound(_)) => Value::Bool(false),
                Err(fail) => return Err(fail),
            },
            Operand::Path { path, .. } => {
                let from = if path.from_root { self.root() } else { item.clone() };
                match self.value(path, &from, false) {
                    Ok(found) => {
                        self.charge(weight(&found.value))?;
                        Value::of(&found.value)
                    }
                    Err(Fail::NotFound(_)) => Value::Undefined,
                    Err(fail) => return Err(fail),
                }
            }
            Operand::Null => Value::Null,
            Operand::Bool(truth) => Value::Bool(*truth),
            Operand::Number(number) => Value::Number(number.clone()),
            Operand::Text(text) => Value::Text(text.clone()),
            Operand::Json(text) => Value::Literal(text.clone()),
            Operand::Pattern(pattern) => Value::Pattern(pattern),
        })
    }
}
