//! `KEY=VALUE`, as a person types what is to be set.

use serde_json::{Map, Value, json};

/// A word that sets nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PairError {
    #[error("`{0}` is not of the form KEY=VALUE")]
    NoPair(String),
    /// It says more about a fault, and there is none before it.
    #[error("`{0}` belongs to a fault, and no fault=… comes before it")]
    NoFault(String),
    /// Its value has another form.
    #[error("`{word}` wants {wants}")]
    Form {
        word: String,
        /// What it should be like.
        wants: &'static str,
    },
}

/// Turns words into settings of the lab: an object for each thing that is set. `status`, `header`, `body` and `times` say more
/// about the fault before them.
///
/// # Errors
/// Names the first word that cannot be understood.
pub fn steps(words: &[String]) -> Result<Vec<Value>, PairError> {
    let mut steps: Vec<Value> = Vec::new();
    for word in words {
        let (name, value) = match word.split_once('=') {
            Some(pair) => pair,
            None if word == "clear" => ("clear", "true"),
            None => return Err(PairError::NoPair(word.clone())),
        };
        let form = |wants| PairError::Form { word: word.clone(), wants };
        let number = |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number));
        match name {
            "fault" if value.starts_with('{') => {
                let fault: Value =
                    serde_json::from_str(value).map_err(|_| form("JSON, or a regular expression"))?;
                steps.push(json!({"fault": fault}));
            }
            "fault" => steps.push(json!({"fault": {"match": value, "status": 500}})),
            "status" | "header" | "body" | "times" => {
                let fault =
                    steps.last_mut().and_then(|step| step.get_mut("fault")).and_then(Value::as_object_mut);
                more(fault.ok_or_else(|| PairError::NoFault(word.clone()))?, name, value)
                    .ok_or_else(|| form("`header=Name: value`"))?;
            }
            "grants" => {
                let grants: Value = serde_json::from_str(value)
                    .map_err(|_| form("JSON: {\"OBJECT-ID\": [PERMISSION, …]}"))?;
                steps.push(json!({"grants": grants}));
            }
            "power" => {
                let (machine, state) = value.rsplit_once(':').ok_or_else(|| form("MACHINE:STATE"))?;
                steps.push(json!({"power": {machine: state}}));
            }
            "busy" | "free" => steps.push(json!({name: value.split(',').collect::<Vec<_>>()})),
            name => steps.push(json!({name: number(value)})),
        }
    }
    Ok(steps)
}

/// Says more about a fault.
fn more(fault: &mut Map<String, Value>, name: &str, value: &str) -> Option<()> {
    match name {
        "header" => {
            let (header, value) = value.split_once(':')?;
            let headers = fault.entry("headers").or_insert_with(|| json!({}));
            headers.as_object_mut()?.insert(header.trim().to_owned(), json!(value.trim()));
        }
        "body" => {
            let body = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
            fault.insert("body".to_owned(), body);
        }
        name => {
            let number = value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number));
            fault.insert(name.to_owned(), number);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Vec<Value>, PairError> {
        steps(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_become_settings() {
        let words = [
            "lro_polls=2",
            "page_size=off",
            "power=vm-1:deallocated",
            "busy=a,b",
            "clear",
            "fault=GET .*a=b",
            "status=429",
            "header=Retry-After: 1",
            "times=3",
            "body={\"error\":{}}",
            "token=expired",
            r#"fault={"match":"x","status":500}"#,
        ];
        let expected = [
            json!({"lro_polls": 2}),
            json!({"page_size": "off"}),
            json!({"power": {"vm-1": "deallocated"}}),
            json!({"busy": ["a", "b"]}),
            json!({"clear": "true"}),
            json!({"fault": {"match": "GET .*a=b", "status": 429, "headers": {"Retry-After": "1"}, "times": 3, "body": {"error": {}}}}),
            json!({"token": "expired"}),
            json!({"fault": {"match": "x", "status": 500}}),
        ];
        assert_eq!(read(&words).unwrap(), expected);
    }

    #[test]
    fn a_word_that_is_not_understood_is_named() {
        assert_eq!(read(&["polls"]).unwrap_err().to_string(), "`polls` is not of the form KEY=VALUE");
        assert!(matches!(read(&["status=429"]), Err(PairError::NoFault(_))));
        assert!(matches!(read(&["power=vm"]), Err(PairError::Form { .. })));
        assert!(matches!(read(&["fault={"]), Err(PairError::Form { .. })));
        assert!(matches!(read(&["fault=x", "header=y"]), Err(PairError::Form { .. })));
    }
}
