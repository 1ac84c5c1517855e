//! Objects of which a ruleset has many copies: `{"payload": …}`, `{"accept": null}`.

use super::value::{Object, Value};
use crate::netfilter::text::Text;

/// Larger objects differ from rule to rule.
const MAX_SHARED_BYTES: usize = 3;
const PLACES: usize = 1024;

/// Small objects that were met lately, each at one place; see [`crate::netfilter::text::Texts`].
///
/// Objects are equal here where their texts and inner objects are the same in memory: it is a matter of addresses, and a miss
/// costs memory alone.
#[derive(Default)]
pub(super) struct Objects(Vec<Option<Object>>);

impl Objects {
    /// Takes all pairs and makes an object of them, or returns the one that is there.
    pub(super) fn one(&mut self, pairs: &mut Vec<(Text, Value)>) -> Object {
        let mixed = if pairs.len() > MAX_SHARED_BYTES { None } else { mixed(pairs) };
        self.0.resize(PLACES, None);
        let place = mixed.and_then(|mixed| self.0.get_mut(mixed % PLACES));
        let Some(place) = place else { return pairs.drain(..).collect() };
        if let Some(known) = place
            && same(known, pairs)
        {
            pairs.clear();
            return known.clone();
        }
        place.insert(pairs.drain(..).collect()).clone()
    }
}

/// Returns a number that is the same for the same pairs; nothing where something in them stands once.
fn mixed(pairs: &[(Text, Value)]) -> Option<usize> {
    let mut mixed = 0_usize;
    for (key, value) in pairs {
        let value = match value {
            Value::Null => 0,
            Value::Bool(value) => usize::from(*value),
            Value::Number(number) => usize::try_from(number.as_u64()?).ok()?,
            Value::String(text) => text.address() >> 4,
            Value::Object(object) if object.is_shared() => object.address() >> 4,
            Value::Object(_) | Value::Array(_) => return None,
        };
        for number in [key.address() >> 4, value] {
            mixed = mixed.wrapping_mul(31).wrapping_add(number);
        }
    }
    Some(mixed ^ mixed >> 10)
}

fn same(known: &Object, pairs: &[(Text, Value)]) -> bool {
    known.len() == pairs.len()
        && known.iter().zip(pairs).all(|((key, value), (other_key, other))| {
            key.is(other_key)
                && match (value, other) {
                    (Value::String(text), Value::String(other)) => text.is(other),
                    (Value::Object(object), Value::Object(other)) => object.is(other),
                    (Value::Array(_), _) => false,
                    (
                        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_),
                        _,
                    ) => value == other,
                }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netfilter::json::each;

    fn list(text: &str) -> Vec<Value> {
        let mut all = Vec::new();
        assert!(each(text, "list", |value| all.push(value)).unwrap());
        all
    }

    #[test]
    fn most_equal_objects_are_kept_once_down_to_the_outermost() {
        // Where two different objects have one place, the later one displaces the other: addresses decide, so not all are shared.
        let shared = ('a'..='z').filter(|key| {
            let all = list(&format!(
                r#"{{"list": [{{"{key}": {{"{key}{key}": 1}}}}, {{"{key}": {{"{key}{key}": 1}}}}]}}"#
            ));
            let [one, same] = &all[..] else { panic!("there are two") };
            assert_eq!(one, same);
            one.as_object().unwrap().is(same.as_object().unwrap())
        });
        assert!(shared.count() > 13);
    }

    #[test]
    fn different_objects_stay_different() {
        let all = list(r#"{"list": [{"a": {"b": 1}}, {"a": {"b": 2}}, {"a": {"b": [1]}}]}"#);
        let [one, other, held] = &all[..] else { panic!("there are three") };
        assert_ne!(one, other);
        assert_ne!(one, held);
    }

    #[test]
    fn a_change_to_one_of_them_leaves_the_others() {
        let mut all = list(r#"{"list": [{"a": 1}, {"a": 1}]}"#);
        let Some(Value::Object(first)) = all.first_mut() else { panic!("there are two") };
        assert_eq!(first.take("a"), Some(Value::from(1_u64)));
        assert_eq!(all[0].to_string() + &all[1].to_string(), r#"{"a":null}{"a":1}"#);
    }
}
