//! Writes the policy's files as JSON: a process that judges one command reads that in a fraction of the time.
//!
//! Goes in: `src/policy/*.toml`. Comes out, for each: `NAME.json`, and `NAME.lean.json` without the examples, which only a check of the policy
//! reads. Never: another meaning, as both are read by the same types.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::Value;

/// The fields that hold examples, in every file.
const EXAMPLES: [&str; 6] = ["safe", "asks", "blocked", "measurement", "outage", "change"];

#[expect(clippy::disallowed_methods, reason = "cargo names the folder in the environment")]
fn main() -> Result<(), Box<dyn Error>> {
    let policy = Path::new("src/policy");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    println!("cargo::rerun-if-changed={}", policy.display());
    for entry in fs::read_dir(policy)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let mut tables: Value =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let name =
            path.file_stem().and_then(|name| name.to_str()).ok_or("a file of the policy has a name")?;
        fs::write(out.join(format!("{name}.json")), tables.to_string())?;
        empty_examples(&mut tables);
        fs::write(out.join(format!("{name}.lean.json")), tables.to_string())?;
    }
    Ok(())
}

fn empty_examples(value: &mut Value) {
    if let Value::Object(fields) = value {
        for (name, field) in fields {
            if let Value::Array(items) = field
                && EXAMPLES.contains(&name.as_str())
            {
                items.clear();
            }
            empty_examples(field);
        }
    } else if let Value::Array(items) = value {
        items.iter_mut().for_each(empty_examples);
    }
}
