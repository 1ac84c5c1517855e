//! Selectors of labels.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::listed::WORKLOAD;
use crate::net::clipped;

/// Labels of a pod or a namespace.
pub(super) type Labels = BTreeMap<String, String>;

/// Which labels something has to have; all of its requirements hold, and no requirement selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Selector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Reads a selector with `matchLabels` and `matchExpressions`.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let fields = value.as_object().ok_or("a selector that is no object")?;
        known(fields, &["matchLabels", "matchExpressions"], "a selector")?;
        let mut requirements = Vec::new();
        if let Some(labels) = fields.get("matchLabels").filter(|labels| !labels.is_null()) {
            for (key, value) in Self::labels(labels)? {
                requirements.push(Requirement { key, operator: Operator::In(BTreeSet::from([value])) });
            }
        }
        let expressions = fields.get("matchExpressions").filter(|list| !list.is_null());
        if let Some(expressions) = expressions {
            let expressions = expressions.as_array().ok_or("matchExpressions that are no list")?;
            for expression in expressions {
                requirements.push(Requirement::read(expression)?);
            }
        }
        Ok(Self { requirements })
    }

    /// Makes the selector of a Service, which is labels alone.
    pub(super) fn of_labels(labels: &Labels) -> Self {
        let one = |(key, value): (&String, &String)| Requirement {
            key: key.clone(),
            operator: Operator::In(BTreeSet::from([value.clone()])),
        };
        Self { requirements: labels.iter().map(one).collect() }
    }

    /// Reads labels.
    pub(super) fn labels(value: &Value) -> Result<Labels, String> {
        let fields = value.as_object().ok_or("labels that are no object")?;
        let text = |(key, value): (&String, &Value)| {
            let value = value.as_str().ok_or_else(|| format!("a label {} that is no text", clipped(key)))?;
            Ok((key.clone(), value.to_owned()))
        };
        fields.iter().map(text).collect()
    }

    pub(super) fn selects(&self, labels: &Labels) -> bool {
        self.requirements.iter().all(|own| own.holds(labels.get(&own.key)))
    }

    /// True if the selector was probably meant for these labels: the label that names the workload matches and another does not, or a
    /// value has a typing error.
    pub(super) fn is_nearly_met(&self, labels: &Labels) -> bool {
        self.requirements.iter().any(|own| {
            let is_workload = WORKLOAD.contains(&own.key.as_str());
            let slips = |value: &String| match &own.operator {
                Operator::In(wanted) => wanted.iter().any(|wanted| is_slip(wanted, value)),
                Operator::NotIn(_) | Operator::Exists | Operator::DoesNotExist => false,
            };
            labels.get(&own.key).is_some_and(|value| is_workload && own.holds(Some(value)) || slips(value))
        })
    }

    /// Tells what is selected where of the labels only some are known; nothing is known of the others.
    pub(super) fn selects_known(&self, some: &Labels) -> Option<bool> {
        let is_known = |own: &&Requirement| some.contains_key(&own.key);
        if self.requirements.iter().filter(is_known).any(|own| !own.holds(some.get(&own.key))) {
            return Some(false);
        }
        self.requirements.iter().all(|own| some.contains_key(&own.key)).then_some(true)
    }
}

/// Tells whether two values differ by one letter or sign. Numbers are counted and not mistyped: `web-1` is not `web-2`.
fn is_slip(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> Vec<char> { text.chars().filter(|char| !char.is_ascii_digit()).collect() };
    let (one, other) = (letters(one), letters(other));
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    if short.len() < 3 || long.len() - short.len() > 1 || short == long {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(one, other)| one == other).count();
    let skip = usize::from(long.len() == short.len());
    short.get(same + skip..).is_some_and(|rest| long.get(same + 1..) == Some(rest))
}

impl Requirement {
    fn read(value: &Value) -> Result<Self, String> {
        let fields = value.as_object().ok_or("an expression of a selector that is no object")?;
        known(fields, &["key", "operator", "values"], "an expression of a selector")?;
        let key = fields.get("key").and_then(Value::as_str).filter(|key| !key.is_empty());
        let key = key.ok_or("an expression of a selector without a key")?.to_owned();
        let values = match fields.get("values") {
            None | Some(Value::Null) => BTreeSet::new(),
            Some(list) => {
                let list = list.as_array().ok_or("values of a selector that are no list")?;
                let texts = list.iter().map(|value| value.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or("a value of a selector that is no text")?
            }
        };
        let operator = match (fields.get("operator").and_then(Value::as_str), values.is_empty()) {
            (Some("In"), false) => Operator::In(values),
            (Some("NotIn"), false) => Operator::NotIn(values),
            (Some("Exists"), true) => Operator::Exists,
            (Some("DoesNotExist"), true) => Operator::DoesNotExist,
            (other, _) => {
                return Err(format!(
                    "an expression of a selector with the operator {} and {} values",
                    clipped(other.unwrap_or("(none)")),
                    values.len()
                ));
            }
        };
        Ok(Self { key, operator })
    }

    fn holds(&self, value: Option<&String>) -> bool {
        match &self.operator {
            Operator::In(values) => value.is_some_and(|value| values.contains(value)),
            // What has no such label is in none of the values.
            Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

/// Fails where an object has a field that is not known: it may mean anything.
pub(super) fn known(fields: &Map<String, Value>, names: &[&str], what: &str) -> Result<(), String> {
    match fields.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(format!("{what} with a field {}", clipped(name))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[track_caller]
    fn selects(selector: Value, pairs: &[(&str, &str)], expected: bool) {
        let selector = Selector::read(&selector).unwrap();
        assert_eq!(selector.selects(&labels(pairs)), expected, "{selector:?} {pairs:?}");
    }

    #[test]
    fn every_requirement_has_to_hold() {
        selects(json!({}), &[], true);
        selects(json!({"matchLabels": {}}), &[("a", "1")], true);
        let both = json!({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "In", "values": ["2", "3"]}]});
        selects(both.clone(), &[("a", "1"), ("b", "3")], true);
        selects(both.clone(), &[("a", "1"), ("b", "4")], false);
        selects(both, &[("a", "1")], false);
        let one = |operator: &str, values: Value| json!({"matchExpressions": [{"key": "b", "operator": operator, "values": values}]});
        selects(one("NotIn", json!(["2"])), &[], true);
        selects(one("NotIn", json!(["2"])), &[("b", "2")], false);
        selects(one("Exists", json!(null)), &[("b", "")], true);
        selects(one("Exists", json!([])), &[], false);
        selects(one("DoesNotExist", json!([])), &[("a", "1")], true);
        selects(one("DoesNotExist", json!([])), &[("b", "1")], false);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for odd in [
            json!("a=b"),
            json!({"matchLabels": {"a": 1}}),
            json!({"matchFields": []}),
            json!({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}),
            json!({"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}),
            json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["1"]}]}),
            json!({"matchExpressions": [{"operator": "Exists"}]}),
        ] {
            assert!(Selector::read(&odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn labels_of_which_only_some_are_known_select_what_these_decide() {
        let some = labels(&[("kubernetes.io/metadata.name", "shop")]);
        let of = |value: Value| Selector::read(&value).unwrap().selects_known(&some);
        assert_eq!(of(json!({})), Some(true));
        assert_eq!(of(json!({"matchLabels": {"kubernetes.io/metadata.name": "shop"}})), Some(true));
        assert_eq!(
            of(json!({"matchLabels": {"kubernetes.io/metadata.name": "x", "team": "a"}})),
            Some(false)
        );
        assert_eq!(of(json!({"matchLabels": {"team": "a"}})), None);
    }
}
