//! Native tables of `nft`.

use serde_json::{Map, Value, json};

use super::refusal::Refusal;

/// The most that native tables may hold.
const MAX_OBJECTS: usize = 20_000;

/// Native tables, each with its chains, sets and rules as `nft -j` tells them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Native {
    tables: Vec<Table>,
}

#[derive(Debug, Clone, PartialEq)]
struct Table {
    family: String,
    name: String,
    handle: u64,
    last: u64,
    chains: Vec<Chain>,
    /// Sets and everything else: the kind, and the object.
    others: Vec<(String, Map<String, Value>)>,
}

#[derive(Debug, Clone, PartialEq)]
struct Chain {
    about: Map<String, Value>,
    rules: Vec<Map<String, Value>>,
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn missing(what: &str) -> Refusal {
    Refusal { what: format!("Error: {what}; No such file or directory"), code: 1, usage: false }
}

impl Native {
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Whether a table is one of these.
    pub(super) fn has(&self, family: &str, name: &str) -> bool {
        self.tables.iter().any(|table| table.family == family && table.name == name)
    }

    /// Returns everything as `nft -j list ruleset` does.
    pub(super) fn objects(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        for table in &self.tables {
            objects
                .push(json!({"table": {"family": table.family, "name": table.name, "handle": table.handle}}));
            objects.extend(table.chains.iter().map(|chain| json!({"chain": chain.about})));
            objects.extend(table.others.iter().map(|(kind, object)| {
                let mut outer = Map::new();
                outer.insert(kind.clone(), Value::Object(object.clone()));
                Value::Object(outer)
            }));
            objects
                .extend(table.chains.iter().flat_map(|chain| &chain.rules).map(|rule| json!({"rule": rule})));
        }
        objects
    }

    /// Empties everything.
    pub(super) fn clear(&mut self) {
        self.tables.clear();
    }

    /// Does one command: `add`, `insert`, `delete`, `flush`, `create`, `replace`, `destroy`.
    pub(super) fn run(
        &mut self,
        verb: &str,
        kind: &str,
        object: &Map<String, Value>,
        handle: &mut u64,
    ) -> Result<(), Refusal> {
        let family = match text(object, "family") {
            "" => "ip",
            family => family,
        };
        let table_name =
            if kind == "table" { text(object, "name") } else { text(object, "table") }.to_owned();
        if !matches!(family, "ip" | "ip6" | "inet" | "arp" | "bridge" | "netdev") {
            return Err(Refusal { what: format!("Error: unknown family `{family}'"), code: 1, usage: false });
        }
        let at = self.tables.iter().position(|table| table.family == family && table.name == table_name);
        let adds = matches!(verb, "add" | "create" | "insert" | "replace");
        if kind == "table" {
            match (verb, at) {
                ("add", Some(_)) => {}
                ("create", Some(_)) => {
                    return Err(Refusal {
                        what: "Error: Could not process rule: File exists".to_owned(),
                        code: 1,
                        usage: false,
                    });
                }
                ("add" | "create", None) => {
                    *handle += 1;
                    self.tables.push(Table {
                        family: family.to_owned(),
                        name: table_name,
                        handle: *handle,
                        last: 0,
                        chains: Vec::new(),
                        others: Vec::new(),
                    });
                }
                ("delete" | "destroy", Some(at)) => drop(self.tables.remove(at)),
                ("destroy", None) => {}
                ("flush", Some(at)) => {
                    for table in self.tables.iter_mut().skip(at).take(1) {
                        table.chains.iter_mut().for_each(|chain| chain.rules.clear());
                    }
                }
                _ => return Err(missing("Could not process rule")),
            }
            return Ok(());
        }
        let Some(table) = at.and_then(|at| self.tables.get_mut(at)) else {
            return Err(missing("Could not process rule"));
        };
        let size = table.chains.len() + table.chains.iter().map(|chain| chain.rules.len()).sum::<usize>();
        if adds && size + table.others.len() > MAX_OBJECTS {
            return Err(Refusal {
                what: "Error: Could not process rule: Cannot allocate memory".to_owned(),
                code: 1,
                usage: false,
            });
        }
        match kind {
            "chain" => table.chain(verb, object),
            "rule" => table.rule(verb, object),
            kind => table.other(verb, kind, object),
        }
    }
}

impl Table {
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn chain(&mut self, verb: &str, object: &Map<String, Value>) -> Result<(), Refusal> {
        let name = text(object, "name");
        let at = self.chains.iter().position(|chain| text(&chain.about, "name") == name);
        match (verb, at) {
            ("add" | "create", None) => {
                let mut about = Map::new();
                about.insert("family".to_owned(), json!(self.family));
                about.insert("table".to_owned(), json!(self.name));
                about.insert("name".to_owned(), json!(name));
                about.insert("handle".to_owned(), json!(self.number()));
                for key in ["type", "hook", "prio", "dev", "policy", "comment"] {
                    if let Some(value) = object.get(key) {
                        about.insert(key.to_owned(), value.clone());
                    }
                }
                if about.contains_key("hook") && !about.contains_key("policy") {
                    about.insert("policy".to_owned(), json!("accept"));
                }
                self.chains.push(Chain { about, rules: Vec::new() });
                Ok(())
            }
            ("add", Some(at)) => {
                if let (Some(chain), Some(policy)) = (self.chains.get_mut(at), object.get("policy")) {
                    chain.about.insert("policy".to_owned(), policy.clone());
                }
                Ok(())
            }
            ("delete" | "destroy", Some(at)) => {
                let used = self.chains.iter().flat_map(|chain| &chain.rules).any(|rule| {
                    rule.get("expr")
                        .is_some_and(|expr| expr.to_string().contains(&format!("{{\"target\":\"{name}\"}}")))
                });
                if used {
                    return Err(Refusal {
                        what: "Error: Could not process rule: Device or resource busy".to_owned(),
                        code: 1,
                        usage: false,
                    });
                }
                self.chains.remove(at);
                Ok(())
            }
            ("destroy", None) => Ok(()),
            ("flush", Some(at)) => {
                self.chains.iter_mut().skip(at).take(1).for_each(|chain| chain.rules.clear());
                Ok(())
            }
            ("create", Some(_)) => Err(Refusal {
                what: "Error: Could not process rule: File exists".to_owned(),
                code: 1,
                usage: false,
            }),
            _ => Err(missing("Could not process rule")),
        }
    }

    fn rule(&mut self, verb: &str, object: &Map<String, Value>) -> Result<(), Refusal> {
        let name = text(object, "chain");
        if !self.chains.iter().any(|chain| text(&chain.about, "name") == name) {
            return Err(missing("Could not process rule"));
        }
        let asked = object.get("handle").and_then(Value::as_u64);
        // A set without a name has a number too.
        self.last += object
            .get("expr")
            .map_or(0, |expr| u64::try_from(expr.to_string().matches("{\"set\":").count()).unwrap_or(0));
        let number = if matches!(verb, "add" | "insert") { self.number() } else { asked.unwrap_or(0) };
        let mut rule = Map::new();
        rule.insert("family".to_owned(), json!(self.family));
        rule.insert("table".to_owned(), json!(self.name));
        rule.insert("chain".to_owned(), json!(name));
        rule.insert("handle".to_owned(), json!(number));
        if let Some(comment) = object.get("comment") {
            rule.insert("comment".to_owned(), comment.clone());
        }
        rule.insert("expr".to_owned(), counted(object.get("expr").cloned().unwrap_or(json!([]))));
        let Some(chain) = self.chains.iter_mut().find(|chain| text(&chain.about, "name") == name) else {
            return Err(missing("Could not process rule"));
        };
        let at = asked.and_then(|asked| {
            chain.rules.iter().position(|rule| rule.get("handle").and_then(Value::as_u64) == Some(asked))
        });
        match (verb, at) {
            ("add", None) if asked.is_none() => chain.rules.push(rule),
            ("insert", None) if asked.is_none() => chain.rules.insert(0, rule),
            ("add", Some(at)) => chain.rules.insert(at + 1, rule),
            ("insert", Some(at)) => chain.rules.insert(at, rule),
            ("replace", Some(at)) => {
                if let Some(old) = chain.rules.get_mut(at) {
                    *old = rule;
                }
            }
            ("delete" | "destroy", Some(at)) => drop(chain.rules.remove(at)),
            _ => return Err(missing("Could not process rule")),
        }
        Ok(())
    }

    fn other(&mut self, verb: &str, kind: &str, object: &Map<String, Value>) -> Result<(), Refusal> {
        let name = text(object, "name");
        let at = self.others.iter().position(|(own, other)| own == kind && text(other, "name") == name);
        match (verb, at) {
            ("add" | "create", None) if kind != "element" => {
                let mut object = object.clone();
                object.insert("handle".to_owned(), json!(self.number()));
                object.entry("family".to_owned()).or_insert_with(|| json!(self.family));
                self.others.push((kind.to_owned(), object));
                Ok(())
            }
            ("add", None) => {
                // Elements join their set.
                let set = self.others.iter_mut().find(|(_, other)| text(other, "name") == name);
                let Some((_, set)) = set else { return Err(missing("Could not process rule")) };
                let more = object.get("elem").and_then(Value::as_array).cloned().unwrap_or_default();
                match set.get_mut("elem").and_then(Value::as_array_mut) {
                    Some(elements) => elements.extend(more),
                    None => drop(set.insert("elem".to_owned(), Value::Array(more))),
                }
                Ok(())
            }
            ("add", Some(_)) | ("destroy", None) => Ok(()),
            ("delete" | "destroy", Some(at)) => {
                self.others.remove(at);
                Ok(())
            }
            _ => Err(missing("Could not process rule")),
        }
    }
}

/// Gives counters without numbers their numbers.
fn counted(mut expressions: Value) -> Value {
    for expression in expressions.as_array_mut().into_iter().flatten() {
        if let Some(counter) = expression.get_mut("counter").filter(|counter| counter.is_null()) {
            *counter = json!({"packets": 0, "bytes": 0});
        }
    }
    expressions
}

impl Native {
    /// Counts a packet at a rule that has a counter.
    pub(super) fn count(&mut self, table: &str, handle: u64, bytes: u64) {
        let (family, name) = table.split_once(' ').unwrap_or(("ip", table));
        let own = self.tables.iter_mut().filter(|table| table.family == family && table.name == name);
        let rules = own.flat_map(|table| &mut table.chains).flat_map(|chain| &mut chain.rules);
        for rule in rules.filter(|rule| rule.get("handle").and_then(Value::as_u64) == Some(handle)) {
            for expression in rule.get_mut("expr").and_then(Value::as_array_mut).into_iter().flatten() {
                let Some(counter) = expression.get_mut("counter").and_then(Value::as_object_mut) else {
                    continue;
                };
                for (key, more) in [("packets", 1), ("bytes", bytes)] {
                    let before = counter.get(key).and_then(Value::as_u64).unwrap_or(0);
                    counter.insert(key.to_owned(), json!(before.saturating_add(more)));
                }
            }
        }
    }
}
