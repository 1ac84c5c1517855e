//! Elements that are filled in: text, numbers, addresses, files.

use serde_json::{Map, Value};

use crate::block::element::FOCUS;
use crate::block::rich::RICH_TEXT;
use crate::block::shape::{ACTION_ID, Kind, NO_LIMIT, Rule, Shape, may, need};
use crate::block::text::{DISPATCH, PLACEHOLDER};
use crate::block::walk::Walk;

/// What only an input block may hold.
pub(super) static TYPED_IN: [Kind; 5] = [
    Kind("plain_text_input", &PLAIN_TEXT),
    Kind("number_input", &NUMBER),
    Kind("email_text_input", &ADDRESS),
    Kind("url_text_input", &ADDRESS),
    Kind("file_input", &FILE),
];

/// Also allowed among actions.
pub(super) static RICH: [Kind; 1] = [Kind("rich_text_input", &RICH_INPUT)];

static PLAIN_TEXT: Shape = Shape {
    fields: &[
        ACTION_ID,
        may("initial_value", Rule::Str(0, NO_LIMIT)),
        may("multiline", Rule::Bool),
        may("min_length", Rule::Int(0, 3000)),
        may("max_length", Rule::Int(1, 3000)),
        DISPATCH,
        FOCUS,
        PLACEHOLDER,
    ],
    checks: &[lengths],
};

static NUMBER: Shape = Shape {
    fields: &[
        ACTION_ID,
        need("is_decimal_allowed", Rule::Bool),
        may("initial_value", Rule::Str(0, NO_LIMIT)),
        may("min_value", Rule::Str(0, NO_LIMIT)),
        may("max_value", Rule::Str(0, NO_LIMIT)),
        DISPATCH,
        FOCUS,
        PLACEHOLDER,
    ],
    checks: &[values],
};

static ADDRESS: Shape = Shape {
    fields: &[ACTION_ID, may("initial_value", Rule::Str(0, NO_LIMIT)), DISPATCH, FOCUS, PLACEHOLDER],
    checks: &[],
};

static FILE: Shape = Shape {
    fields: &[
        ACTION_ID,
        may("filetypes", Rule::List(1, NO_LIMIT, &Rule::Str(1, NO_LIMIT))),
        may("max_files", Rule::Int(1, 10)),
    ],
    checks: &[],
};

static RICH_INPUT: Shape = Shape {
    fields: &[
        ACTION_ID,
        may("initial_value", Rule::Typed(&[&RICH_TEXT])),
        may("min_lines", Rule::Int(1, 100)),
        may("max_lines", Rule::Int(1, 100)),
        DISPATCH,
        FOCUS,
        PLACEHOLDER,
    ],
    checks: &[],
};

fn lengths(object: &Map<String, Value>, walk: &mut Walk) {
    let number = |name: &str| object.get(name).and_then(Value::as_i64);
    if let (Some(least), Some(most)) = (number("min_length"), number("max_length"))
        && least > most
    {
        walk.note_in("min_length", "must be less than or equal to `max_length`");
    }
}

fn values(object: &Map<String, Value>, walk: &mut Walk) {
    let number =
        |name: &str| object.get(name).and_then(Value::as_str).and_then(|text| text.parse::<f64>().ok());
    if let (Some(least), Some(most)) = (number("min_value"), number("max_value"))
        && least > most
    {
        walk.note_in("min_value", "cannot be greater than `max_value`");
    }
    for name in ["initial_value", "min_value", "max_value"] {
        let text = object.get(name).and_then(Value::as_str);
        if text.is_some_and(|text| !text.is_empty() && !text.parse::<f64>().is_ok_and(f64::is_finite)) {
            walk.note_in(name, "must provide a number");
        }
    }
}
