//! Companies and contacts: the records of the light CRM.
//!
//! Which fields a kind has, and what they may hold, is a table; queries are made from it and from nothing a model said.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Hand, Result, activity, at, begins, bounded, like, one_line};
use crate::error::DeskError;
use crate::ids::slug;

/// A kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A company.
    Company,
    /// A person at one.
    Contact,
}

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A text of so many letters at most.
    Text(usize),
    /// The same, of several lines and kept letter for letter.
    Words(usize),
    /// One of these.
    OneOf(&'static [&'static str]),
    /// The id of a member.
    Member,
    /// The id of a company.
    Company,
    /// An address for mail.
    Email,
}

/// A field of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name, which is the name of its column.
    pub name: &'static str,
    /// What it may hold.
    pub rule: Rule,
}

const fn field(name: &'static str, rule: Rule) -> Field {
    Field { name, rule }
}

const COMPANY: &[Field] = &[
    field("name", Rule::Text(120)),
    field("domain", Rule::Text(120)),
    field("city", Rule::Text(80)),
    field("tier", Rule::OneOf(&["key", "standard", "small"])),
    field("status", Rule::OneOf(&["active", "trial", "at risk", "paused", "lost"])),
    field("owner", Rule::Member),
    field("about", Rule::Words(2000)),
];

const CONTACT: &[Field] = &[
    field("name", Rule::Text(120)),
    field("company", Rule::Company),
    field("email", Rule::Email),
    field("phone", Rule::Text(40)),
    field("title", Rule::Text(80)),
    field("status", Rule::OneOf(&["active", "left", "do not contact"])),
];

impl Kind {
    /// Its name, which ids begin with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Contact => "contact",
        }
    }

    /// The kind of an id.
    pub fn of(id: &str) -> Option<Self> {
        match id.split_once(':')?.0 {
            "company" => Some(Self::Company),
            "contact" => Some(Self::Contact),
            _ => None,
        }
    }

    /// Its fields.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Company => COMPANY,
            Self::Contact => CONTACT,
        }
    }

    /// What its status can be.
    pub fn states(self) -> &'static [&'static str] {
        let rule = self.fields().iter().find(|field| field.name == "status").map(|field| field.rule);
        if let Some(Rule::OneOf(states)) = rule { states } else { &[] }
    }

    fn table(self) -> &'static str {
        match self {
            Self::Company => "companies",
            Self::Contact => "contacts",
        }
    }

    /// What a search looks at.
    fn searched(self) -> &'static str {
        match self {
            Self::Company => "name || ' ' || domain || ' ' || city || ' ' || id",
            Self::Contact => {
                "name || ' ' || email || ' ' || title || ' ' || coalesce(company, '') || ' ' || id"
            }
        }
    }

    fn columns(self) -> String {
        let names: Vec<&str> = self.fields().iter().map(|field| field.name).collect();
        format!("id, version, updated, deleted, {}", names.join(", "))
    }
}

/// A record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its other fields. Those that hold nothing are left out.
    pub fields: Map<String, Value>,
    /// Counts its changes.
    pub version: i64,
    /// When it was last changed.
    pub updated: Timestamp,
    /// Whether it was deleted: it is found by its id only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl Entity {
    /// The rest of it in one line.
    pub fn summary(&self) -> String {
        let texts = self.fields.iter().filter(|(name, _)| *name != "about");
        let texts: Vec<&str> = texts.filter_map(|(_, value)| value.as_str()).collect();
        texts.join(", ")
    }

    /// The value of a field, the name among them.
    pub fn get(&self, field: &str) -> Option<&str> {
        if field == "name" { Some(&self.name) } else { self.fields.get(field).and_then(Value::as_str) }
    }
}

/// What is searched for.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Words of the name, the address, the city. All must be there.
    pub words: String,
    /// Only of a kind.
    pub kind: Option<Kind>,
    /// Only with this status.
    pub status: Option<String>,
    /// Only contacts of this company.
    pub company: Option<String>,
    /// So many at most.
    pub limit: Option<u32>,
}

/// Records that fit, and how many there are in all. Those whose name begins with the words come first.
///
/// # Errors
/// Of the database.
pub fn search(connection: &Connection, search: &Search) -> Result<(Vec<Entity>, usize)> {
    let limit = bounded(search.limit, 10);
    let kinds = match (search.kind, &search.company) {
        (Some(kind), _) => vec![kind],
        (None, Some(_)) => vec![Kind::Contact],
        (None, None) => vec![Kind::Company, Kind::Contact],
    };
    let (mut found, mut all) = (Vec::new(), 0);
    for kind in kinds {
        if kind == Kind::Company && search.company.is_some() {
            continue;
        }
        let mut conditions = vec!["deleted IS NULL".to_owned()];
        let mut values: Vec<String> = Vec::new();
        for word in search.words.split_whitespace().take(8) {
            values.push(like(word));
            conditions.push(format!("{} LIKE ?{} ESCAPE '\\'", kind.searched(), values.len()));
        }
        if let Some(status) = &search.status {
            values.push(status.clone());
            conditions.push(format!("status = ?{}", values.len()));
        }
        if let Some(company) = &search.company {
            values.push(company.clone());
            conditions.push(format!("company = ?{}", values.len()));
        }
        let conditions = conditions.join(" AND ");
        let table = kind.table();
        let count = format!("SELECT count(*) FROM {table} WHERE {conditions}");
        all += connection
            .query_row(&count, rusqlite::params_from_iter(&values), |row| row.get::<_, i64>(0))
            .map(|count| usize::try_from(count).unwrap_or_default())?;
        values.push(begins(search.words.trim()));
        let select = format!(
            "SELECT {} FROM {table} WHERE {conditions} ORDER BY name NOT LIKE ?{} ESCAPE '\\', name, id LIMIT {limit}",
            kind.columns(),
            values.len()
        );
        let mut select = connection.prepare(&select)?;
        let rows = select.query_map(rusqlite::params_from_iter(&values), |row| read(kind, row))?;
        found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    found.truncate(limit as usize);
    Ok((found, all))
}

/// A record by its id, also one that was deleted.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn get(connection: &Connection, id: &str) -> Result<Entity> {
    let missing =
        || DeskError::Missing { kind: "record".to_owned(), id: id.to_owned(), near: near(connection, id) };
    let kind = Kind::of(id).ok_or_else(missing)?;
    let select = format!("SELECT {} FROM {} WHERE id = ?1", kind.columns(), kind.table());
    let mut select = connection.prepare(&select)?;
    select.query_row([id], |row| read(kind, row)).optional()?.ok_or_else(missing)
}

/// A record that can be changed.
fn living(connection: &Connection, id: &str) -> Result<Entity> {
    let entity = get(connection, id)?;
    if entity.deleted { Err(DeskError::invalid(format!("{id} was deleted"))) } else { Ok(entity) }
}

/// The values as they would be kept.
///
/// # Errors
/// [`DeskError::Invalid`] with what is allowed.
pub fn checked(
    connection: &Connection,
    kind: Kind,
    changes: &Map<String, Value>,
) -> Result<Map<String, Value>> {
    let mut out = Map::new();
    for (name, value) in changes {
        let Some(field) = kind.fields().iter().find(|field| field.name == name) else {
            let known: Vec<&str> = kind.fields().iter().map(|field| field.name).collect();
            return Err(DeskError::invalid(format!(
                "a {} has no field {name:?}; it has {}",
                kind.name(),
                known.join(", ")
            )));
        };
        let text = match value {
            Value::String(text) if matches!(field.rule, Rule::Words(_)) && !text.trim().is_empty() => {
                text.clone()
            }
            Value::String(text) => text.trim().to_owned(),
            Value::Null => String::new(),
            Value::Number(number) => number.to_string(),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                return Err(DeskError::invalid(format!("{name} must be a text")));
            }
        };
        let text = valid(connection, field, &text)?;
        out.insert(name.clone(), if text.is_empty() { Value::Null } else { Value::String(text) });
    }
    Ok(out)
}

fn valid(connection: &Connection, field: &Field, text: &str) -> Result<String> {
    let name = field.name;
    if name == "name" && text.is_empty() {
        return Err(DeskError::invalid("a name cannot be empty"));
    }
    match field.rule {
        Rule::Text(most) | Rule::Words(most) if text.chars().count() > most => {
            Err(DeskError::invalid(format!("{name} has {most} letters at most")))
        }
        Rule::Text(_) => one_line(name, text).map(str::to_owned),
        Rule::Words(_) => Ok(text.to_owned()),
        Rule::OneOf(allowed) => {
            let asked = text.to_lowercase().replace(['_', '-'], " ");
            let found = allowed.iter().find(|value| **value == asked);
            found.map(|value| (*value).to_owned()).ok_or_else(|| {
                DeskError::invalid(format!("{name} cannot be {text:?}; it is one of {}", allowed.join(", ")))
            })
        }
        Rule::Email | Rule::Member | Rule::Company if text.is_empty() => Ok(String::new()),
        Rule::Email => super::mail::checked_address(text),
        Rule::Member => crate::ids::member(connection, text),
        Rule::Company => {
            let id = crate::ids::record(connection, text, Some(Kind::Company))?;
            living(connection, &id).map(|company| company.id)
        }
    }
}

/// Changes fields. Answers the record before and after; nothing is written when nothing would change.
///
/// # Errors
/// [`DeskError::Missing`], [`DeskError::Invalid`], or of the database.
pub fn update(
    tx: &Transaction<'_>,
    hand: &Hand,
    id: &str,
    changes: &Map<String, Value>,
) -> Result<(Entity, Entity)> {
    let before = living(tx, id)?;
    let changes = checked(tx, before.kind, changes)?;
    let differs = |(name, value): &(&String, &Value)| before.get(name) != value.as_str();
    let changed: Map<String, Value> =
        changes.iter().filter(differs).map(|(name, value)| (name.clone(), value.clone())).collect();
    if changed.is_empty() {
        return Ok((before.clone(), before));
    }
    for (name, value) in &changed {
        let column = before.kind.fields().iter().find(|field| field.name == name);
        let Some(column) = column else { continue };
        // What points at others holds nothing when it is empty; texts are empty.
        let empty = matches!(column.rule, Rule::Member | Rule::Company);
        let text = value.as_str().map(str::to_owned).or_else(|| (!empty).then(String::new));
        let set = format!("UPDATE {} SET {} = ?2 WHERE id = ?1", before.kind.table(), column.name);
        tx.execute(&set, (id, text))?;
    }
    let bump =
        format!("UPDATE {} SET version = version + 1, updated = ?2 WHERE id = ?1", before.kind.table());
    tx.execute(&bump, (id, hand.at.as_millisecond()))?;
    let was: Map<String, Value> =
        changed.keys().map(|name| (name.clone(), json!(before.get(name)))).collect();
    activity::log(tx, hand, "updated", id, &json!({ "before": was, "after": changed }))?;
    Ok((before, get(tx, id)?))
}

/// Makes a record. Its id comes from its name.
///
/// # Errors
/// [`DeskError::Invalid`], or of the database.
pub fn create(tx: &Transaction<'_>, hand: &Hand, kind: Kind, fields: &Map<String, Value>) -> Result<Entity> {
    let fields = checked(tx, kind, fields)?;
    let Some(name) = fields.get("name").and_then(Value::as_str) else {
        return Err(DeskError::invalid(format!("a {} needs a name", kind.name())));
    };
    let id = fresh(tx, kind, name)?;
    let now = hand.at.as_millisecond();
    let insert = format!("INSERT INTO {} (id, name, created, updated) VALUES (?1, ?2, ?3, ?3)", kind.table());
    tx.execute(&insert, (&id, name, now))?;
    for (name, value) in fields.iter().filter(|(name, value)| *name != "name" && !value.is_null()) {
        if let Some(column) = kind.fields().iter().find(|field| field.name == name) {
            let set = format!("UPDATE {} SET {} = ?2 WHERE id = ?1", kind.table(), column.name);
            tx.execute(&set, (&id, value.as_str()))?;
        }
    }
    activity::log(tx, hand, "created", &id, &Value::Object(fields.clone()))?;
    get(tx, &id)
}

/// Deletes a record: it is found by its id only, and cannot be changed any more.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn delete(tx: &Transaction<'_>, hand: &Hand, id: &str) -> Result<Entity> {
    let entity = living(tx, id)?;
    let set = format!("UPDATE {} SET deleted = ?2, version = version + 1 WHERE id = ?1", entity.kind.table());
    tx.execute(&set, (id, hand.at.as_millisecond()))?;
    activity::log(tx, hand, "deleted", id, &json!({}))?;
    get(tx, id)
}

/// Ids that somebody may have meant.
pub(crate) fn near(connection: &Connection, id: &str) -> Vec<String> {
    let name = id.rsplit(':').next().unwrap_or(id).replace(['-', '_'], " ");
    let words = Search { words: name, limit: Some(3), ..Search::default() };
    let found = search(connection, &words).map(|(found, _)| found).unwrap_or_default();
    found.into_iter().map(|entity| entity.id).collect()
}

/// An id that is free.
fn fresh(tx: &Transaction<'_>, kind: Kind, name: &str) -> Result<String> {
    let slug = slug(name);
    let slug = if slug.is_empty() { "unnamed".to_owned() } else { slug };
    let taken = format!("SELECT 1 FROM {} WHERE id = ?1", kind.table());
    for number in 1..1000 {
        let id = if number == 1 {
            format!("{}:{slug}", kind.name())
        } else {
            format!("{}:{slug}-{number}", kind.name())
        };
        if tx.query_row(&taken, [&id], |_| Ok(())).optional()?.is_none() {
            return Ok(id);
        }
    }
    Err(DeskError::invalid(format!("there are too many records named {name:?}")))
}

fn read(kind: Kind, row: &Row<'_>) -> rusqlite::Result<Entity> {
    let mut fields = Map::new();
    let mut name = String::new();
    for (index, field) in kind.fields().iter().enumerate() {
        let value: Option<String> = row.get(index + 4)?;
        match value {
            Some(value) if field.name == "name" => name = value,
            Some(value) if !value.is_empty() => {
                fields.insert(field.name.to_owned(), Value::String(value));
            }
            _ => {}
        }
    }
    Ok(Entity {
        id: row.get(0)?,
        kind,
        name,
        fields,
        version: row.get(1)?,
        updated: at(row.get(2)?),
        deleted: row.get::<_, Option<i64>>(3)?.is_some(),
    })
}
