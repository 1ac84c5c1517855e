//! Every type that the schema knows stands in the table of what is here.

use std::collections::BTreeSet;

use crate::block::layout::{Surface, rule};
use crate::block::shape::{Rule, Shape};

const TABLE: &str = include_str!("../person/fidelity.md");

fn collect(rule: &Rule, found: &mut BTreeSet<&'static str>) {
    match rule {
        Rule::Any
        | Rule::Bool
        | Rule::Int(..)
        | Rule::Number
        | Rule::Str(..)
        | Rule::Word(_)
        | Rule::Text(..) => {}
        Rule::List(_, _, rule) | Rule::Is(rule) | Rule::OrNull(rule) => collect(rule, found),
        Rule::Object(shape) => inside(shape, found),
        Rule::Typed(lists) => {
            for kind in lists.iter().copied().flatten() {
                found.insert(kind.0);
                inside(kind.1, found);
            }
        }
    }
}

fn inside(shape: &Shape, found: &mut BTreeSet<&'static str>) {
    shape.fields.iter().for_each(|field| collect(&field.rule, found));
}

#[test]
fn every_block_and_element_stands_in_the_table_of_what_is_here() {
    let mut found = BTreeSet::new();
    for surface in [Surface::Message, Surface::Modal, Surface::Home] {
        collect(rule(surface), &mut found);
    }
    assert!(found.len() > 60, "{found:?}");
    let missing: Vec<&&str> =
        found.iter().filter(|kind| !TABLE.contains(&format!("\n| `{kind}` | "))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
