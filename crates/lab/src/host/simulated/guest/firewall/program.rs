//! What `nft` is asked, and what it prints.

use serde_json::{Map, Value, json};

use super::refusal::Refusal;
use super::syntax;
use super::table::{Firewall, Side};
use ghost_inspect::netfilter::read;

/// The largest text that is taken.
const MAX_TEXT_BYTES: usize = 1 << 20;

impl Firewall {
    /// Takes the orders of a text, all or none.
    pub(in crate::host::simulated) fn nft(&mut self, text: &str, is_json: bool) -> Result<(), Refusal> {
        let wrong = |what: String| Refusal { what: format!("Error: {what}"), code: 1, usage: false };
        if text.len() > MAX_TEXT_BYTES {
            return Err(wrong("the text is too large".to_owned()));
        }
        let orders =
            if is_json { orders(text).map_err(wrong)? } else { syntax::read(text).map_err(wrong)? };
        let mut changed = self.clone();
        for (verb, kind, object) in &orders {
            changed.nft_order(verb, kind, object)?;
        }
        *self = changed;
        self.changed();
        Ok(())
    }

    fn nft_order(&mut self, verb: &str, kind: &str, object: &Map<String, Value>) -> Result<(), Refusal> {
        if kind == "ruleset" && verb == "flush" {
            self.native.clear();
            // What `iptables-nft` made is the same to this program.
            self.tables.retain(|table| table.side.backend == super::table::Backend::Legacy);
            return Ok(());
        }
        let family = object.get("family").and_then(Value::as_str).unwrap_or("ip").to_owned();
        let key = if kind == "table" { "name" } else { "table" };
        let name = object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let side = match family.as_str() {
            "ip" => Some(Side { backend: super::table::Backend::Nft, six: false }),
            "ip6" => Some(Side { backend: super::table::Backend::Nft, six: true }),
            _ => None,
        };
        let own = side.filter(|side| self.table(*side, &name).is_some() && !self.native.has(&family, &name));
        if let Some(side) = own {
            return self.managed(side, &name, verb, kind, object);
        }
        let mut handle = self.table_handle;
        let done = self.native.run(verb, kind, object, &mut handle);
        self.table_handle = handle;
        done
    }

    /// Changes a table that `iptables-nft` keeps: it can be emptied and removed, and rules go by their handles.
    fn managed(
        &mut self,
        side: Side,
        name: &str,
        verb: &str,
        kind: &str,
        object: &Map<String, Value>,
    ) -> Result<(), Refusal> {
        let wrong = |what: &str| Refusal {
            what: format!("Error: Could not process rule: {what}"),
            code: 1,
            usage: false,
        };
        let chain =
            object.get("chain").or_else(|| object.get("name")).and_then(Value::as_str).unwrap_or_default();
        match (verb, kind) {
            ("add", "table") => Ok(()),
            ("delete", "table") => {
                self.tables.retain(|table| !(table.side == side && table.name == name));
                Ok(())
            }
            ("flush", "table") => {
                for chain in self.table_mut(side, name).into_iter().flat_map(|table| &mut table.chains) {
                    chain.rules.clear();
                }
                Ok(())
            }
            ("flush", "chain") => match self.table_mut(side, name).and_then(|table| table.chain_mut(chain)) {
                Some(chain) => {
                    chain.rules.clear();
                    Ok(())
                }
                None => Err(wrong("No such file or directory")),
            },
            ("delete", "rule") => {
                let handle = object.get("handle").and_then(Value::as_u64).unwrap_or(0);
                let found = self.table_mut(side, name).and_then(|table| table.chain_mut(chain));
                let Some(found) = found else { return Err(wrong("No such file or directory")) };
                let before = found.rules.len();
                found.rules.retain(|rule| rule.handle != handle);
                if found.rules.len() < before { Ok(()) } else { Err(wrong("No such file or directory")) }
            }
            _ => Err(wrong("this table is managed by iptables-nft and is changed here by iptables alone")),
        }
    }

    /// Writes what `nft -j list ruleset` prints, or the objects of one table.
    pub(in crate::host::simulated) fn nft_json(&self, family: &str, table: &str) -> String {
        let about = json!({"metainfo": {"version": "1.0.2", "release_name": "Lester Gooch", "json_schema_version": 1}});
        let mut objects = vec![about];
        objects.extend(self.objects(false).into_iter().filter(|object| chosen(object, family, table)));
        format!("{}\n", ordered(&json!({"nftables": objects})))
    }

    /// Writes what `nft list ruleset` prints, or one table.
    pub(in crate::host::simulated) fn nft_text(&self, family: &str, table: &str, handles: bool) -> String {
        let objects: Vec<Value> =
            self.objects(true).into_iter().filter(|object| chosen(object, family, table)).collect();
        let mut whole = vec![json!({"metainfo": {"json_schema_version": 1}})];
        whole.extend(objects.iter().cloned());
        let Ok(ruleset) = read(&ordered(&json!({"nftables": whole}))) else { return String::new() };
        let number = |handle: Option<u64>| match handle {
            Some(handle) if handles => format!(" # handle {handle}"),
            _ => String::new(),
        };
        let find = |kind: &str, family_and_table: &str, name: &str| {
            objects.iter().filter_map(|object| object.get(kind)).find(|object| {
                let own = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
                let table = if kind == "table" {
                    String::new()
                } else {
                    format!("{} {}", own("family"), own("table"))
                };
                (kind == "table" && format!("{} {}", own("family"), own("name")) == name)
                    || (table == family_and_table && own("name") == name)
            })
        };
        let handle =
            |object: Option<&Value>| object.and_then(|object| object.get("handle")).and_then(Value::as_u64);
        let mut out = String::new();
        for table in &ruleset.tables {
            out.push_str(&format!(
                "table {} {{{}\n",
                table.name,
                number(handle(find("table", "", &table.name)))
            ));
            for set in &table.sets {
                let kind = if set.is_map { "map" } else { "set" };
                out.push_str(&format!("\t{kind} {} {{\n", set.name));
                let about = find(kind, &table.name, &set.name);
                if let Some(own) = about.and_then(|about| about.get("type")).and_then(Value::as_str) {
                    out.push_str(&format!("\t\ttype {own}\n"));
                }
                let elements = about.and_then(|about| about.get("elem")).and_then(Value::as_array);
                let elements: Vec<String> = elements.into_iter().flatten().map(element).collect();
                if !elements.is_empty() {
                    out.push_str(&format!("\t\telements = {{ {} }}\n", elements.join(", ")));
                }
                out.push_str("\t}\n");
            }
            for (at, chain) in table.chains.iter().enumerate() {
                if at > 0 || !table.sets.is_empty() {
                    out.push('\n');
                }
                let own = find("chain", &table.name, &chain.name);
                out.push_str(&format!("\tchain {} {{{}\n", chain.name, number(handle(own))));
                if let Some(base) = &chain.base {
                    out.push_str(&format!(
                        "\t\ttype {} hook {} priority {}; policy {};\n",
                        base.kind,
                        base.hook,
                        priority(base.priority, &base.hook),
                        chain.policy.as_deref().unwrap_or("accept")
                    ));
                }
                for rule in &chain.rules {
                    let comment = rule
                        .comment
                        .as_ref()
                        .map(|comment| format!(" comment \"{comment}\""))
                        .unwrap_or_default();
                    out.push_str(&format!("\t\t{}{comment}{}\n", devices(&rule.raw), number(rule.handle)));
                }
                out.push_str("\t}\n");
            }
            out.push_str("}\n");
        }
        out
    }

    /// Names the tables, as `nft list tables` does.
    pub(in crate::host::simulated) fn nft_tables(&self) -> String {
        let objects = self.objects(false);
        let tables = objects.iter().filter_map(|object| object.get("table"));
        let own =
            |table: &Value, key: &str| table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        tables.map(|table| format!("table {} {}\n", own(table, "family"), own(table, "name"))).collect()
    }
}

/// Writes a document with the packets of a counter before its bytes, as the program does.
fn ordered(document: &Value) -> String {
    let text = document.to_string();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("{\"bytes\":") {
        out.push_str(before);
        let numbers = behind.split_once('}').and_then(|(inside, rest)| {
            let (bytes, packets) = inside.split_once(",\"packets\":")?;
            Some((bytes, packets, rest))
        });
        match numbers {
            Some((bytes, packets, behind)) => {
                out.push_str(&format!("{{\"packets\":{packets},\"bytes\":{bytes}}}"));
                rest = behind;
            }
            None => {
                out.push_str("{\"bytes\":");
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Writes devices as the program does: without `meta`, in quotes.
fn devices(raw: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut words = raw.split(' ').peekable();
    while let Some(word) = words.next() {
        let device = words.peek().is_some_and(|next| matches!(*next, "iifname" | "oifname" | "iif" | "oif"));
        if word != "meta" || !device {
            out.push(word.to_owned());
            continue;
        }
        out.extend(words.next().map(str::to_owned));
        if words.peek() == Some(&"!=") {
            out.extend(words.next().map(str::to_owned));
        }
        if let Some(value) = words.next() {
            out.push(if value.starts_with(['{', '"', '@']) {
                value.to_owned()
            } else {
                format!("\"{value}\"")
            });
        }
    }
    out.join(" ")
}

/// Names a priority as the program does.
fn priority(number: i64, hook: &str) -> String {
    let known =
        [("raw", -300), ("mangle", -150), ("dstnat", -100), ("filter", 0), ("security", 50), ("srcnat", 100)];
    let fits = |name: &str| match name {
        "dstnat" => matches!(hook, "prerouting" | "output"),
        "srcnat" => matches!(hook, "postrouting" | "input"),
        _ => true,
    };
    let found = known.iter().find(|(name, own)| *own == number && fits(name));
    found.map_or_else(|| number.to_string(), |(name, _)| (*name).to_owned())
}

fn element(value: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(prefix) = value.get("prefix") {
        let own = |key: &str| prefix.get(key).map(text).unwrap_or_default();
        return format!("{}/{}", own("addr"), own("len"));
    }
    match value.get("range").and_then(Value::as_array).map(Vec::as_slice) {
        Some([from, to]) => format!("{}-{}", text(from), text(to)),
        _ => text(value),
    }
}

/// Whether an object belongs to a table; to any, if none is named.
fn chosen(object: &Value, family: &str, table: &str) -> bool {
    if table.is_empty() && family.is_empty() {
        return true;
    }
    let Some((kind, body)) = object.as_object().and_then(|object| object.iter().next()) else { return false };
    let own = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = if kind == "table" { own("name") } else { own("table") };
    own("family") == family && (table.is_empty() || name == table)
}

/// Reads the orders of a JSON document.
fn orders(text: &str) -> Result<Vec<syntax::NftCommand>, String> {
    let value: Value = serde_json::from_str(text).map_err(|_| "the JSON is not valid".to_owned())?;
    let list = value.get("nftables").and_then(Value::as_array).ok_or("there is no \"nftables\"")?;
    let mut orders = Vec::new();
    for item in list {
        let Some((name, body)) = item.as_object().and_then(|object| object.iter().next()) else {
            return Err("an order is no object".to_owned());
        };
        let verb =
            matches!(name.as_str(), "add" | "insert" | "delete" | "flush" | "create" | "replace" | "destroy");
        let (verb, kind, body) = if verb {
            let inner = body.as_object().and_then(|object| object.iter().next());
            let Some((kind, body)) = inner else { return Err(format!("`{name}` has no object")) };
            (name.clone(), kind.clone(), body.clone())
        } else {
            ("add".to_owned(), name.clone(), body.clone())
        };
        if kind == "metainfo" {
            continue;
        }
        orders.push((verb, kind, body.as_object().cloned().unwrap_or_default()));
    }
    Ok(orders)
}
