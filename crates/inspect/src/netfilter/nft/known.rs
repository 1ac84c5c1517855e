//! Which expressions are known by name.

use crate::netfilter::json::Value;

const STATEMENTS: [&str; 30] = [
    "match",
    "accept",
    "drop",
    "continue",
    "return",
    "jump",
    "goto",
    "counter",
    "mangle",
    "quota",
    "limit",
    "fwd",
    "notrack",
    "dup",
    "snat",
    "dnat",
    "masquerade",
    "redirect",
    "reject",
    "set",
    "map",
    "log",
    "ct helper",
    "ct timeout",
    "ct expectation",
    "ct count",
    "meter",
    "queue",
    "vmap",
    "flow",
];

const MORE: [&str; 9] =
    ["tproxy", "synproxy", "secmark", "last", "comment", "reset", "ct zone", "connlimit", "flowtable"];

const OPERANDS: [&str; 34] = [
    "payload",
    "meta",
    "ct",
    "rt",
    "fib",
    "numgen",
    "jhash",
    "symhash",
    "socket",
    "osf",
    "exthdr",
    "tcp option",
    "ip option",
    "sctp chunk",
    "dccp option",
    "ipsec",
    "concat",
    "set",
    "map",
    "prefix",
    "range",
    "elem",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "accept",
    "drop",
    "continue",
    "return",
    "jump",
    "goto",
    "tunnel",
];

/// Returns the parts of a rule that are not known by name, word for word.
pub(super) fn opaque(expressions: &[Value]) -> Vec<String> {
    let unknown = |expression: &&Value| {
        let Some((name, body)) = expression.as_object().and_then(|object| object.iter().next()) else {
            return true;
        };
        if name == "match" || name == "vmap" {
            return !["left", "key"].iter().any(|side| body.get(side).is_some_and(operand))
                || body.get("right").is_some_and(|right| !operand(right));
        }
        !STATEMENTS.contains(&name.as_str()) && !MORE.contains(&name.as_str())
    };
    expressions.iter().filter(unknown).map(ToString::to_string).collect()
}

/// Whether a value, down to its leaves, is made of what is known.
fn operand(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            object.iter().next().is_some_and(|(name, _)| OPERANDS.contains(&name.as_str()))
        }
        Value::Array(list) => list.iter().all(operand),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
