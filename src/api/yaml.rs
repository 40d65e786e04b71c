//! YAML of whatever can be serialised: block style, field order kept, every string that could be read as anything else quoted.
//!
//! The text goes through JSON first, because our documents say there how each value is written. Output is YAML 1.2 that
//! 1.1 readers understand alike. Text of several lines stands as a block, so that a rule in it can be read.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A value with its fields in order, which `serde_json::Value` would sort.
#[derive(Deserialize)]
#[serde(untagged)]
enum Node {
    Null(()),
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    Map(Fields),
}

struct Fields(Vec<(String, Node)>);

/// The value as a YAML document.
///
/// # Errors
/// When the value cannot be serialised, which none of our documents does.
pub fn of(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(value)?;
    let node: Node = serde_json::from_str(&json)?;
    let mut text = String::new();
    match &node {
        Node::Map(Fields(fields)) if !fields.is_empty() => map(&mut text, fields, 0),
        Node::List(items) if !items.is_empty() => list(&mut text, items, 0),
        other => {
            text.push_str(&inline(other));
            text.push('\n');
        }
    }
    Ok(text)
}

fn map(text: &mut String, fields: &[(String, Node)], indent: usize) {
    for (at, (key, value)) in fields.iter().enumerate() {
        // The first field of a list item stands on the item's own line.
        if at > 0 || text.is_empty() || text.ends_with('\n') {
            text.extend(std::iter::repeat_n(' ', indent));
        }
        text.push_str(&scalar(key));
        text.push(':');
        match value {
            Node::Map(Fields(inner)) if !inner.is_empty() => {
                text.push('\n');
                map(text, inner, indent + 2);
            }
            Node::List(items) if !items.is_empty() => {
                text.push('\n');
                list(text, items, indent);
            }
            Node::Text(lines) if is_block(lines) => block(text, lines, indent + 2),
            other => {
                text.push(' ');
                text.push_str(&inline(other));
                text.push('\n');
            }
        }
    }
}

fn list(text: &mut String, items: &[Node], indent: usize) {
    for item in items {
        text.extend(std::iter::repeat_n(' ', indent));
        text.push_str("- ");
        match item {
            Node::Map(Fields(fields)) if !fields.is_empty() => map(text, fields, indent + 2),
            Node::List(inner) if !inner.is_empty() => {
                text.push('\n');
                list(text, inner, indent + 2);
            }
            other => {
                text.push_str(&inline(other));
                text.push('\n');
            }
        }
    }
}

/// Whether text can stand as a block that ends without a line break: several lines, none of which begins or ends oddly.
fn is_block(text: &str) -> bool {
    let plain = |line: &str| !line.ends_with(' ') && line.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    text.contains('\n') && !text.starts_with([' ', '\n']) && !text.ends_with('\n') && text.lines().all(plain)
}

fn block(text: &mut String, lines: &str, indent: usize) {
    text.push_str(" |-\n");
    for line in lines.lines() {
        if !line.is_empty() {
            text.extend(std::iter::repeat_n(' ', indent));
            text.push_str(line);
        }
        text.push('\n');
    }
}

fn inline(node: &Node) -> String {
    match node {
        Node::Null(()) => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Number(number) => number.to_string(),
        Node::Text(text) => scalar(text),
        Node::List(_) => "[]".to_owned(),
        Node::Map(_) => "{}".to_owned(),
    }
}

/// Plain only where no reader of any YAML version could take it for something else.
fn scalar(text: &str) -> String {
    let opens_with_letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let word = text.to_ascii_lowercase();
    let reserved = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"].contains(&word.as_str());
    let plain_words = opens_with_letter
        && text.chars().all(|c| safe(c) || c == ' ')
        && !text.ends_with(' ')
        && !reserved
        && text.len() < 200;
    if plain_words {
        return text.to_owned();
    }
    // A JSON string is a YAML double-quoted string, but for line separators that only YAML 1.1 takes for such.
    let quoted = serde_json::Value::from(text).to_string();
    quoted.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(InOrder)
    }
}
