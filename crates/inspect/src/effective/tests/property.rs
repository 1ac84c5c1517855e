//! Properties of any bundle and any bytes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Any bundle whose answers are readable, with enough repetition that rows meet.
fn bundles() -> impl Strategy<Value = Value> {
    let routes = prop::collection::vec(
        (0_u8..3, prop::sample::select(vec!["User", "Default", "VirtualNetworkGateway"]), 0_u8..3).prop_map(
            |(net, source, hop)| route(&format!("10.{net}.0.0/16"), source, &format!("10.9.9.{hop}")),
        ),
        1..5,
    );
    let rules = || {
        let one = (0_u32..3, prop::bool::ANY, 1_u16..4).prop_map(|(name, allow, port)| {
            rule(&format!("r{name}"), 100 + name, if allow { "Allow" } else { "Deny" }, &port.to_string())
        });
        prop::collection::vec(one, 1..4)
    };
    let groups = (rules(), rules())
        .prop_map(|(a, b)| vec![group("subnet", "app", a), group("networkInterface", "vm", b)]);
    let nics = prop::collection::btree_map(0_u8..3, (routes, groups), 1..3);
    nics.prop_map(|nics| {
        bundle(
            nics.into_iter()
                .map(|(name, (routes, groups))| nic(&format!("nic-{name}"), routes, groups))
                .collect(),
        )
    })
}

/// Turns every list of a document around, by any of its rotations.
fn turned(value: &Value, by: usize) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| turned(item, by)).collect();
            let middle = by % items.len().max(1);
            items.rotate_left(middle);
            items.reverse();
            Value::Array(items)
        }
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), turned(value, by))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        drop((Side::parse(&text), Certificate::parse(&text), Snapshot::parse(&text), text.parse::<Window>()));
        let wrapped = json!({"nics": [{"nic": "a", "routes": text, "nsg": text, "error": null}]});
        prop_assert_eq!(compare(&wrapped, &wrapped).status, Status::Inconclusive);
    }

    #[test]
    fn no_change_of_a_bundle_makes_it_panic(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = plain().to_string().into_bytes();
        let at = at.index(bytes.len());
        *bytes.get_mut(at).unwrap() = byte;
        if let Ok(side) = Side::parse(&String::from_utf8_lossy(&bytes)) {
            prop_assert_ne!(side.compare(&side, Options::default()).status, Status::Drift);
        }
    }

    #[test]
    fn nothing_differs_from_itself_in_any_order(value in bundles(), by in 0_usize..5) {
        let found = compare(&value, &turned(&value, by));
        prop_assert_eq!((found.status, found.changes.len(), found.remarks.len()), (Status::Clean, 0, 0));
    }

    #[test]
    fn a_comparison_is_the_reverse_of_the_swapped_one(a in bundles(), b in bundles()) {
        let (there, back) = (compare(&a, &b), compare(&b, &a));
        let mut mirrored: Vec<Change> = back.changes.into_iter().map(|change| Change {
            kind: match change.kind {
                Kind::Added => Kind::Removed,
                Kind::Removed => Kind::Added,
                Kind::Changed => Kind::Changed,
            },
            before: change.after,
            after: change.before,
            ..change
        }).collect();
        mirrored.sort_by_key(|change| (change.nic.clone(), change.category, change.key.clone(), change.kind));
        let bare = |changes: Vec<Change>| -> Vec<Change> {
            changes.into_iter().map(|change| Change { moved: None, ..change }).collect()
        };
        prop_assert_eq!(bare(there.changes), bare(mirrored));
        prop_assert_eq!(there.status, back.status);
    }

    #[test]
    fn a_single_changed_byte_of_a_snapshot_is_refused(at in any::<prop::sample::Index>(), flip in 1_u8..) {
        let mut bytes = sealed(&plain(), 0).0.into_bytes();
        let at = at.index(bytes.len());
        *bytes.get_mut(at).unwrap() ^= flip;
        // What is no text any more is refused where it is read.
        if let Ok(text) = String::from_utf8(bytes) {
            prop_assert!(Side::parse(&text).is_err());
        }
    }
}
