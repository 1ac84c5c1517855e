//! Collections of injected instructions, in the forms in which they are published.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode as _, Yaml};
use serde_json::Value;

/// The names under which collections keep an instruction; what stands beside them is a description.
const NAMES: [&str; 10] = [
    "attack",
    "goal",
    "injection",
    "instruction",
    "instructions",
    "payload",
    "payloads",
    "prompt",
    "prompts",
    "text",
];

/// What is shorter is no instruction.
const SHORTEST: usize = 8;

/// A collection.
pub(super) struct Corpus {
    pub(super) name: String,
    /// The instructions, each once.
    pub(super) payloads: Vec<String>,
}

/// Reads a folder in which every file and every folder is a collection.
pub(super) fn read(folder: &Path) -> Vec<Corpus> {
    let corpora = entries(folder).into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut seen = BTreeSet::new();
        let all = files(&path).into_iter().flat_map(|file| {
            let ending = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            let bytes = std::fs::read(&file).unwrap();
            payloads(&ending, &String::from_utf8_lossy(&bytes))
        });
        Corpus { name, payloads: all.filter(|payload| seen.insert(payload.clone())).collect() }
    });
    corpora.filter(|corpus| !corpus.payloads.is_empty()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| !path.file_name().unwrap_or_default().as_encoded_bytes().starts_with(b"."));
    found.sort();
    found
}

fn files(path: &Path) -> Vec<PathBuf> {
    match path.is_dir() {
        true => entries(path).iter().flat_map(|path| files(path)).collect(),
        false => vec![path.to_owned()],
    }
}

/// Reads a file by its ending; one of another form holds nothing.
fn payloads(ending: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    match ending {
        "txt" => found.extend(text.lines().map(str::to_owned)),
        "json" => strings(&serde_json::from_str(text).unwrap_or_default(), &mut found),
        "jsonl" => {
            for line in text.lines() {
                strings(&serde_json::from_str(line).unwrap_or_default(), &mut found);
            }
        }
        "yaml" | "yml" => {
            let documents = Yaml::load_from_str(text).unwrap_or_default();
            documents.iter().for_each(|document| strings(&value(document), &mut found));
        }
        "csv" => found = column(records(text)),
        "md" => found = code(text),
        _ => {}
    }
    let trimmed = found.iter().map(|payload| payload.trim().to_owned());
    trimmed.filter(|payload| payload.len() >= SHORTEST).collect()
}

fn is_name(text: &str) -> bool {
    NAMES.iter().any(|name| text.trim().eq_ignore_ascii_case(name))
}

/// Collects the instructions of a document, or all its texts where nothing is named like one.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, found)),
        Value::Object(map) => {
            let named = map.keys().any(|name| is_name(name));
            let values = map.iter().filter(|(name, _)| !named || is_name(name));
            values.for_each(|(_, value)| strings(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn value(node: &Yaml<'_>) -> Value {
    if let Some(map) = node.as_mapping() {
        let named = map.iter().filter_map(|(name, node)| Some((name.as_str()?.to_owned(), value(node))));
        return Value::Object(named.collect());
    }
    if let Some(list) = node.as_sequence() {
        return list.iter().map(value).collect();
    }
    node.as_str().map_or(Value::Null, Value::from)
}

/// Cuts a table into its records.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            letter => cell.push(letter),
        }
    }
    record.push(cell);
    records.push(record);
    records
}

/// Takes the columns that hold instructions, or all of them where no head names one.
fn column(records: Vec<Vec<String>>) -> Vec<String> {
    let named: BTreeSet<usize> = records.first().map_or_else(BTreeSet::new, |head| {
        head.iter().enumerate().filter(|(_, name)| is_name(name)).map(|(at, _)| at).collect()
    });
    let rows = records.into_iter().skip(usize::from(!named.is_empty()));
    let cells = rows.flat_map(|row| row.into_iter().enumerate());
    cells.filter(|(at, _)| named.is_empty() || named.contains(at)).map(|(_, cell)| cell).collect()
}

/// Takes the blocks and the spans of code out of a page.
fn code(page: &str) -> Vec<String> {
    let (mut found, mut block) = (Vec::new(), None::<Vec<&str>>);
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            match block.take() {
                Some(lines) => found.push(lines.join("\n")),
                None => block = Some(Vec::new()),
            }
        } else if let Some(lines) = &mut block {
            lines.push(line.trim());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ending: &str, text: &str, expected: &[&str]) {
        assert_eq!(payloads(ending, text), expected, "{text}");
    }

    #[test]
    fn every_form_gives_its_instructions() {
        check("txt", "look it up\n\nno\nfetch that\n", &["look it up", "fetch that"]);
        check(
            "json",
            r#"{"kind of it": ["look it up", ["fetch that"]], "count": 2}"#,
            &["look it up", "fetch that"],
        );
        check("json", r#"[{"attack": "look it up", "origin": "somewhere"}]"#, &["look it up"]);
        check(
            "jsonl",
            "{\"Prompt\": \"look it up\"}\n\n{\"id\": \"fetch that\"}",
            &["look it up", "fetch that"],
        );
        check("yaml", "name: something\nprompt: |\n  look it\n  up\n", &["look it\nup"]);
        check("yml", "- look it up\n- 'fetch that'\n", &["look it up", "fetch that"]);
        check(
            "csv",
            "id,text\n1,\"look, \"\"it\"\"\nup\"\n2,fetch that\n",
            &["look, \"it\"\nup", "fetch that"],
        );
        check("csv", "look it up,1\nfetch that,2\n", &["look it up", "fetch that"]);
        check(
            "md",
            "# Title\nsay `look it up` or\n  ```sh\n  fetch\n  that\n  ```\nend",
            &["look it up", "fetch\nthat"],
        );
        check("png", "look it up", &[]);
    }
}
