//! `--query`, as far as both languages agree on it.

use jmespath::ast::Ast;
use serde_json::Value;

/// Longer expressions are left to `az`.
const MAX_BYTES: usize = 4_096;

/// Expressions with more brackets or steps are left to `az`: each takes its part of the stack.
const MAX_STEPS: usize = 200;

/// Functions that give the same here and there. Those that write or compute numbers are left to `az`.
const FUNCTIONS: [&str; 13] = [
    "contains",
    "ends_with",
    "join",
    "keys",
    "length",
    "merge",
    "not_null",
    "reverse",
    "sort",
    "sort_by",
    "starts_with",
    "to_array",
    "type",
];

/// A question to a document, as text: what it is compiled to belongs to one thread.
#[derive(Debug)]
pub(super) struct Query(String);

impl Query {
    /// Reads it; nothing where it is left to `az`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let step = |letter: &char| ".[({|!&<>=".contains(*letter);
        if text.len() > MAX_BYTES || text.chars().filter(step).count() > MAX_STEPS {
            return None;
        }
        let expression = jmespath::compile(text).ok()?;
        is_plain(expression.as_ast()).then(|| Self(text.to_owned()))
    }

    /// Tells whether it makes objects with names of its own.
    pub(super) fn names_fields(&self) -> bool {
        jmespath::compile(&self.0).map_or(true, |expression| has_names(expression.as_ast()))
    }

    /// Asks a document; the error is why it cannot be asked that.
    pub(super) fn ask(&self, document: Value) -> Result<Value, String> {
        let wrong = |error: jmespath::JmespathError| error.reason.to_string();
        let found = jmespath::compile(&self.0).map_err(wrong)?.search(document).map_err(wrong)?;
        serde_json::to_value(&*found).map_err(|error| error.to_string())
    }
}

fn is_plain(ast: &Ast) -> bool {
    match ast {
        Ast::Function { name, args, .. } => FUNCTIONS.contains(&name.as_str()) && args.iter().all(is_plain),
        Ast::Comparison { lhs, rhs, .. }
        | Ast::Projection { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Subexpr { lhs, rhs, .. }
        | Ast::Condition { predicate: lhs, then: rhs, .. } => is_plain(lhs) && is_plain(rhs),
        Ast::Flatten { node, .. }
        | Ast::Not { node, .. }
        | Ast::ObjectValues { node, .. }
        | Ast::Expref { ast: node, .. } => is_plain(node),
        Ast::MultiList { elements, .. } => elements.iter().all(is_plain),
        Ast::MultiHash { elements, .. } => elements.iter().all(|element| is_plain(&element.value)),
        Ast::Identity { .. }
        | Ast::Field { .. }
        | Ast::Index { .. }
        | Ast::Literal { .. }
        | Ast::Slice { .. } => true,
    }
}

fn has_names(ast: &Ast) -> bool {
    match ast {
        Ast::MultiHash { .. } => true,
        Ast::Function { args, .. } => args.iter().any(has_names),
        Ast::Comparison { lhs, rhs, .. }
        | Ast::Projection { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Subexpr { lhs, rhs, .. }
        | Ast::Condition { predicate: lhs, then: rhs, .. } => has_names(lhs) || has_names(rhs),
        Ast::Flatten { node, .. }
        | Ast::Not { node, .. }
        | Ast::ObjectValues { node, .. }
        | Ast::Expref { ast: node, .. } => has_names(node),
        Ast::MultiList { elements, .. } => elements.iter().any(has_names),
        Ast::Identity { .. }
        | Ast::Field { .. }
        | Ast::Index { .. }
        | Ast::Literal { .. }
        | Ast::Slice { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_both_languages_answer_alike_is_answered() {
        let list = json!([{"name": "b", "n": 2}, {"name": "a", "n": 1}]);
        let ask = |text: &str| Query::read(text).unwrap().ask(list.clone()).unwrap();
        assert_eq!(ask("[].name"), json!(["b", "a"]));
        assert_eq!(ask("[?n==`1`].{x:name,y:gone}"), json!([{"x": "a", "y": null}]));
        assert_eq!(ask("length(@)").to_string(), "2");
        assert_eq!(ask("sort_by(@, &name)[0].name"), json!("a"));
    }

    #[test]
    fn a_query_that_names_fields_is_known() {
        for (text, names) in [
            ("[].name", false),
            ("[].[name, n]", false),
            ("[].{x: name}", true),
            ("[?n==`1`].{x: n} | [0]", true),
        ] {
            assert_eq!(Query::read(text).unwrap().names_fields(), names, "{text}");
        }
    }

    #[test]
    fn the_rest_is_left_to_az() {
        for text in
            ["bad[", "sum([].n)", "[?to_number(n) > `1`]", "nosuch(@)", &"a.".repeat(3_000), &"[".repeat(300)]
        {
            assert!(Query::read(text).is_none(), "{text}");
        }
    }
}
