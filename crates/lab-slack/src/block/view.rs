//! Views: modals and Home tabs.

use serde_json::Value;

use crate::block::across;
use crate::block::layout::{Surface, rule};
use crate::block::shape::Problem;
use crate::block::shape::{Field, Kind, Rule, Shape, may, need};
use crate::block::text::PLAIN;
use crate::block::walk::Walk;

const METADATA: Field = may("private_metadata", Rule::Str(0, 3000));
const CALLBACK: Field = may("callback_id", Rule::Str(0, 255));
const EXTERNAL: Field = may("external_id", Rule::Str(0, 255));

static VIEWS: [Kind; 2] = [Kind("modal", &MODAL), Kind("home", &HOME)];

static VIEW: Rule = Rule::Typed(&[&VIEWS]);

/// `blocks` is held against its own rule afterwards, because it depends on the type.
const BLOCKS: Field = need("blocks", Rule::Any);

static MODAL: Shape = Shape {
    fields: &[
        need("title", Rule::Text(PLAIN, 24)),
        BLOCKS,
        may("close", Rule::Text(PLAIN, 24)),
        may("submit", Rule::Text(PLAIN, 24)),
        METADATA,
        CALLBACK,
        EXTERNAL,
        may("clear_on_close", Rule::Bool),
        may("notify_on_close", Rule::Bool),
    ],
    checks: &[],
};

static HOME: Shape = Shape { fields: &[BLOCKS, METADATA, CALLBACK, EXTERNAL], checks: &[] };

/// Judges a view as `views.open` and its siblings get it; pointers begin with `/view`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn validate_view(view: &Value) -> Result<(), Vec<Problem>> {
    let mut walk = Walk::at("/view");
    walk.check(&VIEW, view);
    let surface = if across::kind(view) == "home" { Surface::Home } else { Surface::Modal };
    if let Some(blocks) = view.get("blocks") {
        walk.step("blocks", |walk| walk.check(rule(surface), blocks));
        if walk.is_clean() {
            walk.step("blocks", |walk| across::blocks(walk, blocks, surface));
            needs_submit(&mut walk, view, blocks, surface);
            return walk.end();
        }
    }
    if !walk.is_clean() && view.get("type").is_some_and(Value::is_string) {
        walk.note_first("failed to match all allowed schemas");
    }
    walk.end()
}

fn needs_submit(walk: &mut Walk, view: &Value, blocks: &Value, surface: Surface) {
    if surface == Surface::Home || view.get("submit").is_some() {
        return;
    }
    let inputs = blocks.as_array().into_iter().flatten().enumerate();
    for (at, _) in inputs.filter(|(_, block)| across::kind(block) == "input") {
        walk.step("blocks", |walk| {
            walk.step(&at.to_string(), |walk| {
                walk.note_in("input", "must define `submit` to use an `input` block in modals");
            });
        });
    }
}
