//! Menus: five sources, each for one choice or for several.

use serde_json::{Map, Value};

use crate::block::element::{FOCUS, initial_among_options};
use crate::block::shape::Problem;
use crate::block::shape::{ACTION_ID, Field, Kind, NO_LIMIT, Rule, Shape, may};
use crate::block::text::{CONFIRM, FILTER, OPTION, OPTION_GROUP, PLACEHOLDER};
use crate::block::walk::Walk;

const ID: Rule = Rule::Str(1, NO_LIMIT);
const IDS: Rule = Rule::List(0, NO_LIMIT, &ID);
const MAX_SELECTED: Field = may("max_selected_items", Rule::Int(1, i64::MAX));
const QUERY: Field = may("min_query_length", Rule::Int(0, i64::MAX));
const RESPONSE: Field = may("response_url_enabled", Rule::Bool);
const CURRENT: Field = may("default_to_current_conversation", Rule::Bool);
const OPTIONS: Field = may("options", Rule::List(1, 100, &OPTION));
const GROUPS: Field = may("option_groups", Rule::List(1, 100, &OPTION_GROUP));
const INITIAL: Field = may("initial_option", Rule::Is(&OPTION));
const INITIALS: Field = may("initial_options", Rule::List(1, 100, &OPTION));

/// Every menu.
pub(super) static MENUS: [Kind; 10] = [
    Kind("static_select", &STATIC),
    Kind("external_select", &EXTERNAL),
    Kind("users_select", &USERS),
    Kind("conversations_select", &CONVERSATIONS),
    Kind("channels_select", &CHANNELS),
    Kind("multi_static_select", &MULTI_STATIC),
    Kind("multi_external_select", &MULTI_EXTERNAL),
    Kind("multi_users_select", &MULTI_USERS),
    Kind("multi_conversations_select", &MULTI_CONVERSATIONS),
    Kind("multi_channels_select", &MULTI_CHANNELS),
];

static STATIC: Shape = Shape {
    fields: &[ACTION_ID, OPTIONS, GROUPS, INITIAL, CONFIRM, FOCUS, PLACEHOLDER],
    checks: &[options_or_groups, initial_among_options],
};

static MULTI_STATIC: Shape = Shape {
    fields: &[ACTION_ID, OPTIONS, GROUPS, INITIALS, CONFIRM, MAX_SELECTED, FOCUS, PLACEHOLDER],
    checks: &[options_or_groups, initial_among_options],
};

static EXTERNAL: Shape =
    Shape { fields: &[ACTION_ID, INITIAL, QUERY, CONFIRM, FOCUS, PLACEHOLDER], checks: &[] };

static MULTI_EXTERNAL: Shape =
    Shape { fields: &[ACTION_ID, INITIALS, QUERY, CONFIRM, MAX_SELECTED, FOCUS, PLACEHOLDER], checks: &[] };

static USERS: Shape =
    Shape { fields: &[ACTION_ID, may("initial_user", ID), CONFIRM, FOCUS, PLACEHOLDER], checks: &[] };

static MULTI_USERS: Shape = Shape {
    fields: &[ACTION_ID, may("initial_users", IDS), CONFIRM, MAX_SELECTED, FOCUS, PLACEHOLDER],
    checks: &[],
};

static CHANNELS: Shape = Shape {
    fields: &[ACTION_ID, may("initial_channel", ID), RESPONSE, CONFIRM, FOCUS, PLACEHOLDER],
    checks: &[],
};

static MULTI_CHANNELS: Shape = Shape {
    fields: &[ACTION_ID, may("initial_channels", IDS), CONFIRM, MAX_SELECTED, FOCUS, PLACEHOLDER],
    checks: &[],
};

static CONVERSATIONS: Shape = Shape {
    fields: &[
        ACTION_ID,
        may("initial_conversation", ID),
        CURRENT,
        FILTER,
        RESPONSE,
        CONFIRM,
        FOCUS,
        PLACEHOLDER,
    ],
    checks: &[],
};

static MULTI_CONVERSATIONS: Shape = Shape {
    fields: &[
        ACTION_ID,
        may("initial_conversations", IDS),
        CURRENT,
        FILTER,
        CONFIRM,
        MAX_SELECTED,
        FOCUS,
        PLACEHOLDER,
    ],
    checks: &[],
};

/// What an app answers when it is asked for the options of a menu.
static OFFER: Shape = Shape {
    fields: &[
        may("options", Rule::List(0, 100, &OPTION)),
        may("option_groups", Rule::List(0, 100, &OPTION_GROUP)),
    ],
    checks: &[options_or_groups],
};

/// Judges the options with which an app answers a `block_suggestion`; pointers begin at the answer.
///
/// # Errors
/// Everything that is wrong with them.
pub fn validate_options(answer: &Value) -> Result<(), Vec<Problem>> {
    let mut walk = Walk::at("");
    walk.check(&OFFERED, answer);
    walk.end()
}

static OFFERED: Rule = Rule::Object(&OFFER);

fn options_or_groups(object: &Map<String, Value>, walk: &mut Walk) {
    match (object.contains_key("options"), object.contains_key("option_groups")) {
        (false, false) => walk.note("must define either `options` or `option_groups`"),
        (true, true) => walk.note("cannot define both `options` and `option_groups`"),
        (true, false) | (false, true) => {}
    }
}
