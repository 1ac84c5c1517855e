//! Facts about clusters.

mod case;
mod flow;
mod kubectl;
mod slice;

use std::collections::BTreeSet;

use super::model::Cluster;
use super::written::WrittenCluster;

/// Two namespaces, three applications, a service of each kind.
const SHOP: &str = r#"
name = "shop-aks"
namespaces = { pay = { team = "money" } }

[[pod]]
name = "shop/web-7d9c6b8f5-x2k4q"
labels = { app = "web" }
ports = [8080]

[[pod]]
name = "shop/db-0"
labels = { app = "db" }
ports = [{ name = "sql", port = 5432 }]

[[pod]]
name = "shop/db-1"
labels = { app = "db" }
ports = [{ name = "sql", port = 5433 }]

[[pod]]
name = "pay/ledger-0"
labels = { app = "ledger" }
ports = [9000]

[[service]]
name = "shop/db"
selector = { app = "db" }
ports = [{ name = "sql", port = 5432, target = "sql" }]

[[service]]
name = "shop/db-nodes"
selector = { app = "db" }
headless = true
ports = [{ name = "sql", port = 5432, target = "sql" }]

[[service]]
name = "shop/web"
selector = { app = "web" }
type = "LoadBalancer"
external = "Local"
ports = [{ port = 80, target = 8080 }]

[[service]]
name = "pay/ledger"
selector = { app = "ledger" }
ports = [9000]

[[service]]
name = "shop/old-db"
endpoints = ["10.20.3.4"]
ports = [5432]
"#;

#[track_caller]
fn written(more: &str) -> WrittenCluster {
    // Keys of the table itself stand before its lists.
    let (keys, tables) = match more.find("[[") {
        Some(at) => more.split_at(at),
        None => (more, ""),
    };
    toml::from_str(&format!("{keys}\n{SHOP}\n{tables}")).unwrap()
}

#[track_caller]
fn shop(more: &str) -> Cluster {
    written(more).cluster(&BTreeSet::new())
}
