//! What is asked of an answer: `--query`.

use jmespath::ast::Ast;
use serde_json::{Map, Value};

use crate::az::failure::Failure;

/// Longer expressions are refused.
const MAX_EXPRESSION_LEN: usize = 10_000;

/// Expressions with more brackets or steps than this are refused: each takes its part of the stack.
const MAX_EXPRESSION_STEPS: usize = 400;

/// A question.
#[derive(Debug)]
pub(in crate::az) struct Query {
    expression: jmespath::Expression<'static>,
    orders: Vec<Vec<String>>,
}

/// A document, and in which order its fields were asked for.
#[derive(Debug, Clone, Default)]
pub(in crate::az) struct Answered {
    pub(in crate::az) document: Value,
    /// Whether it was asked for.
    pub(in crate::az) asked: bool,
    orders: Vec<Vec<String>>,
}

impl Query {
    /// Reads a question.
    pub(in crate::az) fn read(text: &str) -> Result<Self, Failure> {
        let wrong = || failure(format!("argument --query: invalid jmespath_type value: '{text}'"));
        let steps = text
            .chars()
            .filter(|letter| matches!(letter, '.' | '[' | '(' | '{' | '|' | '!' | '&' | '<' | '>' | '='));
        if text.len() > MAX_EXPRESSION_LEN || steps.count() > MAX_EXPRESSION_STEPS {
            return Err(wrong());
        }
        let expression = jmespath::compile(text).map_err(|_| wrong())?;
        let mut orders = Vec::new();
        collect(expression.as_ast(), &mut orders);
        Ok(Self { expression, orders })
    }

    /// Asks a document.
    pub(in crate::az) fn ask(&self, document: Value) -> Result<Answered, Failure> {
        let found = self.expression.search(document).map_err(|error| {
            let why = format!("Invalid jmespath query supplied for `--query`: {}", error.reason);
            Failure { exit: 1, ..failure(why) }
        })?;
        let document = serde_json::to_value(&*found).unwrap_or_default();
        Ok(Answered { document, asked: true, orders: self.orders.clone() })
    }
}

fn failure(text: String) -> Failure {
    const MORE: &str =
        "To learn more about --query, please visit: 'https://learn.microsoft.com/cli/azure/query-azure-cli'";
    Failure::new(2, format!("{text}\n{MORE}"))
}

impl Answered {
    /// A document that nothing was asked of.
    pub(in crate::az) fn whole(document: Value) -> Self {
        Self { document, asked: false, orders: Vec::new() }
    }

    /// Returns the names of an object in the order in which they are shown: as asked for, else as the alphabet goes.
    pub(super) fn names<'a>(&'a self, map: &'a Map<String, Value>) -> Vec<&'a str> {
        let asked = self
            .orders
            .iter()
            .find(|order| order.len() == map.len() && order.iter().all(|name| map.contains_key(name)));
        let mut names: Vec<&str> = match asked {
            Some(order) => return order.iter().map(String::as_str).collect(),
            None => map.keys().map(String::as_str).collect(),
        };
        names.sort_unstable();
        names
    }
}

/// Collects the names of every object that a question builds.
fn collect(ast: &Ast, orders: &mut Vec<Vec<String>>) {
    match ast {
        Ast::MultiHash { elements, .. } => {
            let mut order: Vec<String> = Vec::new();
            for element in elements {
                if !order.contains(&element.key) {
                    order.push(element.key.clone());
                }
            }
            orders.push(order);
            elements.iter().for_each(|element| collect(&element.value, orders));
        }
        Ast::Comparison { lhs, rhs, .. }
        | Ast::Projection { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Subexpr { lhs, rhs, .. }
        | Ast::Condition { predicate: lhs, then: rhs, .. } => {
            collect(lhs, orders);
            collect(rhs, orders);
        }
        Ast::Flatten { node, .. }
        | Ast::Not { node, .. }
        | Ast::ObjectValues { node, .. }
        | Ast::Expref { ast: node, .. } => {
            collect(node, orders);
        }
        Ast::Function { args: several, .. } | Ast::MultiList { elements: several, .. } => {
            several.iter().for_each(|one| collect(one, orders));
        }
        Ast::Identity { .. }
        | Ast::Field { .. }
        | Ast::Index { .. }
        | Ast::Literal { .. }
        | Ast::Slice { .. } => {}
    }
}
