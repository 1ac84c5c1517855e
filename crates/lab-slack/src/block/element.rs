//! Elements that are pressed or looked at: buttons, overflow, pickers, choices, images.

use serde_json::{Map, Value};

use crate::block::shape::{ACTION_ID, Field, Kind, NO_LIMIT, Rule, Shape, may, need};
use crate::block::text::{
    CHOICE, CONFIRM, OVERFLOW_OPTION, PLACEHOLDER, PLAIN, SLACK_FILE, STYLE, one_image,
};
use crate::block::walk::Walk;

/// One element of a view may take the focus; that it is one alone is checked across the view.
pub(super) const FOCUS: Field = may("focus_on_load", Rule::Bool);

const LABEL: Field = may("accessibility_label", Rule::Str(0, 75));

/// What a button consists of.
pub(super) static BUTTON_SHAPE: Shape = Shape {
    fields: &[
        ACTION_ID,
        need("text", Rule::Text(PLAIN, 75)),
        may("url", Rule::Str(0, 3000)),
        may("value", Rule::Str(0, 2000)),
        may("style", STYLE),
        LABEL,
        CONFIRM,
    ],
    checks: &[],
};

static WORKFLOW_BUTTON: Shape = Shape {
    fields: &[
        ACTION_ID,
        need("text", Rule::Text(PLAIN, 75)),
        need("workflow", Rule::Object(&WORKFLOW)),
        may("style", STYLE),
        LABEL,
        CONFIRM,
    ],
    checks: &[],
};

static WORKFLOW: Shape = Shape { fields: &[need("trigger", Rule::Object(&TRIGGER))], checks: &[] };

static TRIGGER: Shape = Shape {
    fields: &[
        need("url", Rule::Str(1, 3000)),
        may(
            "customizable_input_parameters",
            Rule::List(
                0,
                NO_LIMIT,
                &Rule::Object(&Shape {
                    fields: &[need("name", Rule::Str(1, NO_LIMIT)), need("value", Rule::Any)],
                    checks: &[],
                }),
            ),
        ),
    ],
    checks: &[],
};

static CHECKBOXES: Shape = Shape {
    fields: &[
        ACTION_ID,
        need("options", Rule::List(1, 10, &CHOICE)),
        may("initial_options", Rule::List(1, 10, &CHOICE)),
        CONFIRM,
        FOCUS,
    ],
    checks: &[initial_among_options],
};

static RADIO_BUTTONS: Shape = Shape {
    fields: &[
        ACTION_ID,
        need("options", Rule::List(1, 10, &CHOICE)),
        may("initial_option", Rule::Is(&CHOICE)),
        CONFIRM,
        FOCUS,
    ],
    checks: &[initial_among_options],
};

static OVERFLOW: Shape =
    Shape { fields: &[ACTION_ID, need("options", Rule::List(1, 5, &OVERFLOW_OPTION)), CONFIRM], checks: &[] };

static DATEPICKER: Shape = Shape {
    fields: &[ACTION_ID, may("initial_date", Rule::Str(1, NO_LIMIT)), CONFIRM, FOCUS, PLACEHOLDER],
    checks: &[date],
};

static TIMEPICKER: Shape = Shape {
    fields: &[
        ACTION_ID,
        may("initial_time", Rule::Str(1, NO_LIMIT)),
        may("timezone", Rule::Str(1, NO_LIMIT)),
        CONFIRM,
        FOCUS,
        PLACEHOLDER,
    ],
    checks: &[time],
};

static DATETIMEPICKER: Shape = Shape {
    fields: &[ACTION_ID, may("initial_date_time", Rule::Int(1_000_000_000, 9_999_999_999)), CONFIRM, FOCUS],
    checks: &[],
};

/// An image among other things.
pub(super) static IMAGE: Shape = Shape {
    fields: &[need("alt_text", Rule::Str(1, 2000)), may("image_url", Rule::Str(1, 3000)), SLACK_FILE],
    checks: &[one_image],
};

/// An image where the object's type may only be that.
pub(super) static IMAGE_KIND: [Kind; 1] = [Kind("image", &IMAGE)];

/// A button where nothing else is allowed.
pub(super) static BUTTON_KIND: [Kind; 1] = [Kind("button", &BUTTON_SHAPE)];

/// Everything that may be pressed in an actions block or beside a section, except menus.
pub(super) static PRESSED: [Kind; 7] = [
    Kind("button", &BUTTON_SHAPE),
    Kind("checkboxes", &CHECKBOXES),
    Kind("datepicker", &DATEPICKER),
    Kind("overflow", &OVERFLOW),
    Kind("radio_buttons", &RADIO_BUTTONS),
    Kind("timepicker", &TIMEPICKER),
    Kind("workflow_button", &WORKFLOW_BUTTON),
];

/// The pickers and choices that an input may hold.
pub(super) static CHOSEN: [Kind; 4] = [
    Kind("checkboxes", &CHECKBOXES),
    Kind("datepicker", &DATEPICKER),
    Kind("radio_buttons", &RADIO_BUTTONS),
    Kind("timepicker", &TIMEPICKER),
];

/// A date and a time: in actions and inputs, not beside a section.
pub(super) static DATETIME: [Kind; 1] = [Kind("datetimepicker", &DATETIMEPICKER)];

static FEEDBACK: Shape = Shape {
    fields: &[
        ACTION_ID,
        need("positive_button", Rule::Object(&FEEDBACK_BUTTON)),
        need("negative_button", Rule::Object(&FEEDBACK_BUTTON)),
    ],
    checks: &[],
};

static FEEDBACK_BUTTON: Shape = Shape {
    fields: &[need("text", Rule::Text(PLAIN, 75)), need("value", Rule::Str(0, 2000)), LABEL],
    checks: &[],
};

static ICON_BUTTON: Shape = Shape {
    fields: &[
        ACTION_ID,
        need("icon", Rule::Str(1, NO_LIMIT)),
        need("text", Rule::Text(PLAIN, 75)),
        may("value", Rule::Str(0, 2000)),
        may("visible_to_user_ids", Rule::List(0, NO_LIMIT, &Rule::Str(1, NO_LIMIT))),
        LABEL,
        CONFIRM,
    ],
    checks: &[],
};

/// What stands below an answer.
pub(super) static CONTEXT_ACTIONS: [Kind; 2] =
    [Kind("feedback_buttons", &FEEDBACK), Kind("icon_button", &ICON_BUTTON)];

/// What is chosen at first has to be among what can be chosen.
pub(super) fn initial_among_options(object: &Map<String, Value>, walk: &mut Walk) {
    let groups = object.get("option_groups").and_then(Value::as_array).into_iter().flatten();
    let options: Vec<&Value> = object
        .get("options")
        .into_iter()
        .chain(groups.filter_map(|group| group.get("options")))
        .filter_map(Value::as_array)
        .flatten()
        .take(10_000)
        .collect();
    if let Some(initial) = object.get("initial_option").filter(|initial| initial.is_object())
        && !options.contains(&initial)
    {
        walk.note_in("initial_option", "must be one of the provided options");
    }
    if let Some(initial) = object.get("initial_options").and_then(Value::as_array)
        && initial.len() <= 100
        && initial.iter().any(|one| !options.contains(&one))
    {
        walk.note_in("initial_options", "must be one of the provided options");
    }
}

fn date(object: &Map<String, Value>, walk: &mut Walk) {
    let fits = |text: &str| {
        let mut parts = text.split('-');
        let mut part = |length: usize, most: u32| {
            parts.next().is_some_and(|part| digits(part, length).is_some_and(|n| (1..=most).contains(&n)))
        };
        let all = part(4, 9999) && part(2, 12) && part(2, 31);
        all && parts.next().is_none()
    };
    if object.get("initial_date").and_then(Value::as_str).is_some_and(|text| !text.is_empty() && !fits(text))
    {
        walk.note_in("initial_date", "must be in the format YYYY-MM-DD");
    }
}

fn time(object: &Map<String, Value>, walk: &mut Walk) {
    let fits = |text: &str| {
        text.split_once(':').is_some_and(|(hours, minutes)| {
            digits(hours, 2).is_some_and(|n| n < 24) && digits(minutes, 2).is_some_and(|n| n < 60)
        })
    };
    if object.get("initial_time").and_then(Value::as_str).is_some_and(|text| !text.is_empty() && !fits(text))
    {
        walk.note_in("initial_time", "must be in the format HH:mm");
    }
}

fn digits(text: &str, length: usize) -> Option<u32> {
    (text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}
