//! The values of a JSON text, as slices of it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::setup::edit::literal::Literal;
use crate::setup::edit::splice::Container;

/// A value, as it is spelled in a checked text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
}

/// An object, one level deep.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object<'a> {
    pub(super) range: Range<usize>,
    pub(super) members: Vec<Member<'a>>,
}

/// A key and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member<'a> {
    pub(super) key: Value<'a>,
    pub(super) value: Value<'a>,
}

/// An array, one level deep.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Array<'a> {
    pub(super) range: Range<usize>,
    pub(super) elements: Vec<Value<'a>>,
}

impl<'a> Value<'a> {
    /// The value that `text` is, with blanks around it, or why it is none.
    pub(super) fn parse(text: &'a str) -> serde_json::Result<Self> {
        let root = serde_json::from_str(text)?;
        Ok(Value { start: 0, text }.part(root))
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(super) fn object(self) -> Option<Object<'a>> {
        let is_object = self.text.starts_with('{');
        let Members(members) = is_object.then(|| serde_json::from_str(self.text).ok())??;
        let members = members
            .into_iter()
            .map(|(key, value)| Member { key: self.part(key), value: self.part(value) });
        Some(Object { range: self.range(), members: members.collect() })
    }

    pub(super) fn array(self) -> Option<Array<'a>> {
        let is_array = self.text.starts_with('[');
        let elements: Vec<&RawValue> = is_array.then(|| serde_json::from_str(self.text).ok())??;
        let elements = elements.into_iter().map(|element| self.part(element)).collect();
        Some(Array { range: self.range(), elements })
    }

    /// The string, unless it holds half of a surrogate pair.
    pub(super) fn string(self) -> Option<Cow<'a, str>> {
        let inside = self.text.strip_prefix('"')?.strip_suffix('"')?;
        if inside.contains('\\') {
            serde_json::from_str(self.text).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(inside))
        }
    }

    /// Whether it means `literal`, in whatever spelling.
    pub(super) fn means(self, literal: &Literal) -> bool {
        match literal {
            Literal::Text(text) => self.string().is_some_and(|string| string == *text),
            Literal::Number(number) => self.text.parse() == Ok(*number),
            Literal::Flag(flag) => self.text.parse() == Ok(*flag),
            Literal::List(literals) => self.array().is_some_and(|array| {
                let mut pairs = array.elements.iter().zip(literals);
                array.elements.len() == literals.len()
                    && pairs.all(|(element, literal)| element.means(literal))
            }),
            Literal::Table(members) => self
                .object()
                .is_some_and(|object| object.members.len() == members.len() && object.has(members)),
        }
    }

    fn part(self, part: &'a RawValue) -> Value<'a> {
        let text = part.get();
        let offset = text.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        Value { start: self.start + offset, text }
    }
}

impl<'a> Object<'a> {
    /// The member that readers obey: the last of its name.
    pub(super) fn member(&self, name: &str) -> Option<Value<'a>> {
        self.members.iter().rfind(|member| member.is_named(name)).map(|member| member.value)
    }

    /// Whether the object has these members, and maybe others.
    pub(super) fn has(&self, members: &[(&str, Literal)]) -> bool {
        members
            .iter()
            .all(|(name, literal)| self.member(name).is_some_and(|value| value.means(literal)))
    }

    /// The string at `name`.
    pub(super) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        self.member(name)?.string()
    }

    pub(super) fn container(&self) -> Container {
        let ranges = self.members.iter().map(Member::range);
        Container { inside: inside(&self.range), items: ranges.collect() }
    }
}

impl Array<'_> {
    pub(super) fn container(&self) -> Container {
        let ranges = self.elements.iter().map(|element| element.range());
        Container { inside: inside(&self.range), items: ranges.collect() }
    }
}

impl<'a> Member<'a> {
    /// The object, if it is one of this name. No other is taken apart.
    pub(super) fn object_named(&self, name: &str) -> Option<Object<'a>> {
        self.is_named(name).then(|| self.value.object())?
    }

    pub(super) fn is_named(&self, name: &str) -> bool {
        self.key.string().is_some_and(|key| key == name)
    }

    fn range(&self) -> Range<usize> {
        self.key.start..self.value.range().end
    }
}

fn inside(range: &Range<usize>) -> Range<usize> {
    range.start + 1..range.end.saturating_sub(1)
}

/// The members of an object, as they are spelled, in their order, with those of the same name.
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
