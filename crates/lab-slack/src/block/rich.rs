//! Rich text: sections, lists, quotes, code, and what stands in them.

use crate::block::shape::{BLOCK_ID, Field, Kind, NO_LIMIT, Rule, Shape, may, need};

/// A rich text block.
pub(super) static RICH_TEXT: [Kind; 1] = [Kind("rich_text", &BLOCK)];

static BLOCK: Shape = Shape {
    fields: &[need("elements", Rule::List(1, NO_LIMIT, &Rule::Typed(&[&PARTS]))), BLOCK_ID],
    checks: &[],
};

static PARTS: [Kind; 4] = [
    Kind("rich_text_section", &SECTION),
    Kind("rich_text_list", &LIST),
    Kind("rich_text_preformatted", &PREFORMATTED),
    Kind("rich_text_quote", &QUOTE),
];

const BORDER: Field = may("border", Rule::Int(0, 1));

const INLINE_LIST: Rule = Rule::List(0, NO_LIMIT, &Rule::Typed(&[&PLAIN_INLINE, &MENTIONS]));

static SECTION: Shape = Shape { fields: &[need("elements", INLINE_LIST)], checks: &[] };

static QUOTE: Shape = Shape { fields: &[need("elements", INLINE_LIST), BORDER], checks: &[] };

static PREFORMATTED: Shape = Shape {
    fields: &[
        need("elements", Rule::List(0, NO_LIMIT, &Rule::Typed(&[&PLAIN_INLINE]))),
        BORDER,
        may("language", Rule::Str(0, NO_LIMIT)),
    ],
    checks: &[],
};

static LIST: Shape = Shape {
    fields: &[
        need("style", Rule::Word(&["bullet", "ordered"])),
        need("elements", Rule::List(0, NO_LIMIT, &Rule::Typed(&[&LIST_ITEM]))),
        may("indent", Rule::Int(0, 8)),
        may("offset", Rule::Int(0, i64::MAX)),
        BORDER,
    ],
    checks: &[],
};

static LIST_ITEM: [Kind; 1] = [Kind("rich_text_section", &SECTION)];

/// What an inline element may be; a mention can also be shown as chosen.
const FLAGS: &[Field] = &[
    may("bold", Rule::Bool),
    may("italic", Rule::Bool),
    may("strike", Rule::Bool),
    may("underline", Rule::Bool),
    may("code", Rule::Bool),
    may("highlight", Rule::Bool),
    may("client_highlight", Rule::Bool),
    may("unlink", Rule::Bool),
];

static WORDS: Shape = Shape { fields: FLAGS.split_at(5).0, checks: &[] };

static MENTIONED: Shape = Shape { fields: FLAGS, checks: &[] };

const STYLE: Field = may("style", Rule::Object(&WORDS));

const MENTION_STYLE: Field = may("style", Rule::Object(&MENTIONED));

/// What may also stand in code.
static PLAIN_INLINE: [Kind; 2] = [
    Kind("text", &Shape { fields: &[need("text", Rule::Str(1, NO_LIMIT)), STYLE], checks: &[] }),
    Kind(
        "link",
        &Shape {
            fields: &[
                need("url", Rule::Str(1, NO_LIMIT)),
                may("text", Rule::Str(0, NO_LIMIT)),
                may("unsafe", Rule::Bool),
                STYLE,
            ],
            checks: &[],
        },
    ),
];

static MENTIONS: [Kind; 8] = [
    Kind("user", &Shape { fields: &[need("user_id", Rule::Str(1, NO_LIMIT)), MENTION_STYLE], checks: &[] }),
    Kind(
        "usergroup",
        &Shape { fields: &[need("usergroup_id", Rule::Str(1, NO_LIMIT)), MENTION_STYLE], checks: &[] },
    ),
    Kind(
        "channel",
        &Shape { fields: &[need("channel_id", Rule::Str(1, NO_LIMIT)), MENTION_STYLE], checks: &[] },
    ),
    Kind("team", &Shape { fields: &[need("team_id", Rule::Str(1, NO_LIMIT)), MENTION_STYLE], checks: &[] }),
    Kind(
        "broadcast",
        &Shape { fields: &[need("range", Rule::Word(&["here", "channel", "everyone"])), STYLE], checks: &[] },
    ),
    Kind("color", &Shape { fields: &[need("value", Rule::Str(1, NO_LIMIT)), STYLE], checks: &[] }),
    Kind(
        "emoji",
        &Shape {
            fields: &[
                need("name", Rule::Str(1, NO_LIMIT)),
                may("unicode", Rule::Str(0, NO_LIMIT)),
                may("url", Rule::Str(0, NO_LIMIT)),
                may("skin_tone", Rule::Int(1, 6)),
                STYLE,
            ],
            checks: &[],
        },
    ),
    Kind(
        "date",
        &Shape {
            fields: &[
                need("timestamp", Rule::Int(0, i64::MAX)),
                need("format", Rule::Str(1, NO_LIMIT)),
                may("url", Rule::Str(0, NO_LIMIT)),
                may("fallback", Rule::Str(0, NO_LIMIT)),
                STYLE,
            ],
            checks: &[],
        },
    ),
];
