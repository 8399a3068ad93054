//! Reads single fields of a record, whatever shapes the others have.
//!
//! Lines of a megabyte are common, and what is wanted of them is small. A record is read as slices of
//! its text: nothing is built for what nobody asks for, and a field of an unknown shape is absent
//! instead of an error.

use serde::Deserialize;
use serde_json::Deserializer;
use serde_json::value::RawValue;

/// A field as it stands in the text; none if it is absent or null.
pub(super) type Field<'a> = Option<&'a RawValue>;

/// Hands each record of a line to `read`, which says whether it could be read.
///
/// A line can hold two, when the end of the first was lost, and something that is no JSON in front,
/// such as a byte order mark or the zeros that a file system leaves after a crash.
pub(super) fn records(line: &[u8], mut read: impl FnMut(&str) -> bool) {
    let text = String::from_utf8_lossy(line);
    let Some(text) = text.find('{').and_then(|start| text.get(start..)) else { return };
    if read(text) {
        return;
    }
    let records = Deserializer::from_str(text).into_iter::<&RawValue>();
    for record in records.map_while(Result::ok) {
        read(record.get());
    }
}

/// A field that is text, and none that JSON has to escape.
pub(super) fn text(field: Field<'_>) -> Option<&str> {
    let text = field?.get().strip_prefix('"')?.strip_suffix('"')?;
    (!text.is_empty() && !text.contains('\\')).then_some(text)
}

/// A field that is text, unescaped.
pub(super) fn unescaped(field: Field<'_>) -> Option<String> {
    serde_json::from_str(field?.get()).ok()
}

/// A field that is a number of its type.
pub(super) fn number<T: std::str::FromStr>(field: Field<'_>) -> Option<T> {
    field?.get().parse().ok()
}

/// Whether a field is `true`.
pub(super) fn is_true(field: Field<'_>) -> bool {
    field.is_some_and(|field| field.get() == "true")
}

/// A field that is an object with fields that are wanted.
pub(super) fn object<'a, T: Deserialize<'a>>(field: Field<'a>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Record<'a> {
        #[serde(borrow)]
        n: Field<'a>,
    }

    fn numbers(line: &[u8]) -> Vec<Option<u64>> {
        let mut numbers = Vec::new();
        records(line, |record| {
            let Ok(record) = serde_json::from_str::<Record<'_>>(record) else { return false };
            numbers.push(number(record.n));
            true
        });
        numbers
    }

    #[test]
    fn every_record_of_a_line_is_found() {
        for (line, expected) in [
            (&br#"{"n":1}"#[..], &[Some(1)][..]),
            (b"{\"n\":1}\r", &[Some(1)]),
            (br#"{"n":1}{"n":2}"#, &[Some(1), Some(2)]),
            (br#"{"n":1} {"n":2}{"n":3"#, &[Some(1), Some(2)]),
            (br#"{"n":1,"n":2}{"n":3}"#, &[Some(3)]),
            (b"\xef\xbb\xbf{\"n\":1}", &[Some(1)]),
            (b"\0\0\0{\"n\":1}", &[Some(1)]),
            (b"{\"n\":1,\"text\":\"\xff\"}", &[Some(1)]),
            (br#"{"n":1,"text":"\ud83d"}"#, &[Some(1)]),
            (br#"{"n":"1"}{"n":[1]}{"n":null}{"n":-1}{"n":1.5}{}"#, &[None; 6]),
            (b"", &[]),
            (b"not JSON", &[]),
            (b"[1]", &[]),
            (br#"{"n":"#, &[]),
        ] {
            assert_eq!(numbers(line), expected, "{}", String::from_utf8_lossy(line));
        }
    }
}
