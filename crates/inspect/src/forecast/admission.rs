//! Which networks a service of data lets in: the firewalls of databases, caches, storage accounts, vaults and registries.
//!
//! Goes in: a resource as it was and as it will be, in the form of Terraform's provider or of the resource manager. Comes out: who is
//! let in that was not, and who is kept out. Never: that somebody who is kept out does not call.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use serde::Serialize;
use serde_json::Value;

use super::compare::RuleNote;
use super::edit::Unread;
use super::flows::INTERNET;
use super::name::last;
use crate::net::{Fields as _, parse_prefix};

/// A range with more addresses than this lets in strangers of the whole internet: no site has a larger one.
const MOST_OF_ONE_SITE: u64 = 1 << 24;

/// A kind of service, by how its rules are called.
struct Service {
    /// The types in Terraform of a rule with a range of addresses.
    terraform: &'static [&'static str],
    /// The types of the resource manager.
    manager: &'static [&'static str],
    /// What follows the name of the service in its address.
    domain: &'static str,
    port: u16,
}

const SERVICES: [Service; 7] = [
    Service {
        terraform: &["azurerm_mssql_firewall_rule", "azurerm_sql_firewall_rule"],
        manager: &["microsoft.sql/servers/firewallrules"],
        domain: "database.windows.net",
        port: 1433,
    },
    Service {
        terraform: &["azurerm_postgresql_firewall_rule", "azurerm_postgresql_flexible_server_firewall_rule"],
        manager: &[
            "microsoft.dbforpostgresql/servers/firewallrules",
            "microsoft.dbforpostgresql/flexibleservers/firewallrules",
        ],
        domain: "postgres.database.azure.com",
        port: 5432,
    },
    Service {
        terraform: &["azurerm_mysql_firewall_rule", "azurerm_mysql_flexible_server_firewall_rule"],
        manager: &[
            "microsoft.dbformysql/servers/firewallrules",
            "microsoft.dbformysql/flexibleservers/firewallrules",
        ],
        domain: "mysql.database.azure.com",
        port: 3306,
    },
    Service {
        terraform: &["azurerm_mariadb_firewall_rule"],
        manager: &["microsoft.dbformariadb/servers/firewallrules"],
        domain: "mariadb.database.azure.com",
        port: 3306,
    },
    Service {
        terraform: &["azurerm_redis_firewall_rule"],
        manager: &["microsoft.cache/redis/firewallrules"],
        domain: "redis.cache.windows.net",
        port: 6380,
    },
    Service {
        terraform: &["azurerm_synapse_firewall_rule"],
        manager: &["microsoft.synapse/workspaces/firewallrules"],
        domain: "sql.azuresynapse.net",
        port: 1433,
    },
    Service {
        terraform: &["azurerm_cosmosdb_postgresql_firewall_rule"],
        manager: &["microsoft.dbforpostgresql/servergroupsv2/firewallrules"],
        domain: "postgres.cosmos.azure.com",
        port: 5432,
    },
];

/// Types of a rule that lets in one subnet.
const SUBNET_RULES: [&str; 8] = [
    "azurerm_mssql_virtual_network_rule",
    "azurerm_sql_virtual_network_rule",
    "azurerm_postgresql_virtual_network_rule",
    "azurerm_mysql_virtual_network_rule",
    "azurerm_mariadb_virtual_network_rule",
    "microsoft.sql/servers/virtualnetworkrules",
    "microsoft.dbforpostgresql/servers/virtualnetworkrules",
    "microsoft.dbformysql/servers/virtualnetworkrules",
];

/// Types whose own fields say which networks are let in.
const ACCOUNTS: [&str; 11] = [
    "azurerm_storage_account",
    "azurerm_storage_account_network_rules",
    "azurerm_key_vault",
    "azurerm_cosmosdb_account",
    "azurerm_cognitive_account",
    "azurerm_container_registry",
    "microsoft.storage/storageaccounts",
    "microsoft.keyvault/vaults",
    "microsoft.documentdb/databaseaccounts",
    "microsoft.cognitiveservices/accounts",
    "microsoft.containerregistry/registries",
];

/// Who may call a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Callers {
    /// Every network.
    pub everyone: bool,
    /// Addresses from the first to the last.
    pub ranges: BTreeSet<(IpAddr, IpAddr)>,
    /// Subnets by their ids.
    pub subnets: BTreeSet<String>,
}

impl Callers {
    /// Tells whether strangers on the internet are among them.
    fn has_strangers(&self) -> bool {
        let size = |(from, to): &(IpAddr, IpAddr)| match (from, to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => u64::from(to.to_bits().saturating_sub(from.to_bits())) + 1,
            (IpAddr::V6(from), IpAddr::V6(to)) if to.to_bits().saturating_sub(from.to_bits()) >> 96 > 0 => {
                u64::from(u32::MAX)
            }
            (IpAddr::V4(_) | IpAddr::V6(_), _) => 0,
        };
        let is_public =
            |(from, _): &&(IpAddr, IpAddr)| !matches!(from, IpAddr::V4(from) if from.is_private());
        self.everyone || self.ranges.iter().filter(is_public).map(size).sum::<u64>() > MOST_OF_ONE_SITE
    }

    /// Tells whether machines in Azure are among them, of whatever customer: the platform writes that as one address.
    fn has_azure(&self) -> bool {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        self.ranges.contains(&(nowhere, nowhere))
    }

    /// Tells whether somebody whom another one lets in is missing.
    fn lacks_some_of(&self, other: &Self) -> bool {
        let holds = |(from, to): &(IpAddr, IpAddr)| {
            self.ranges.iter().any(|(own_from, own_to)| {
                own_from.is_ipv4() == from.is_ipv4() && own_from <= from && to <= own_to
            })
        };
        !self.everyone
            && (other.everyone
                || !other.ranges.iter().all(holds)
                || !other.subnets.is_subset(&self.subnets)
                || (other.has_azure() && !self.has_azure()))
    }
}

/// A change of who may call a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Admission {
    /// The service, or its rule: `server/rule`.
    pub object: String,
    /// Its address and port, where they are known.
    pub address: Option<(String, u16)>,
    /// Who was let in; nothing where it was not there.
    pub before: Option<Callers>,
    /// Who is let in afterwards; nothing where it is deleted.
    pub after: Option<Callers>,
}

impl Admission {
    /// Says whom it lets in that was kept out.
    pub(super) fn notes(&self) -> Vec<RuleNote> {
        let (before, after) =
            (self.before.clone().unwrap_or_default(), self.after.clone().unwrap_or_default());
        // Of an account that is new the usual is not a rule that somebody made.
        let is_usual = self.before.is_none() && after.everyone;
        let note = |effect, why: String, is_shown: bool| {
            let target = self.address.as_ref().filter(|_| is_shown);
            let packet = target.map(|(address, port)| format!("tcp {INTERNET} -> {address}:{port}"));
            RuleNote { effect, object: self.object.clone(), why, packet }
        };
        if after.has_strangers() && !before.has_strangers() && !is_usual {
            return vec![note("open", "it lets in anybody on the internet".to_owned(), true)];
        }
        if !before.lacks_some_of(&after) || is_usual {
            return Vec::new();
        }
        let ranges = after.ranges.difference(&before.ranges).map(|(from, to)| format!("{from} to {to}"));
        let subnets = after.subnets.difference(&before.subnets).filter_map(|id| last(id));
        let named: Vec<String> = ranges.chain(subnets).take(4).collect();
        vec![note("opened", format!("it lets in {} more", named.join(", ")), false)]
    }

    /// Says what cannot be known of it.
    pub(super) fn unknown(&self) -> Option<Unread> {
        let (before, after) =
            (self.before.clone().unwrap_or_default(), self.after.clone().unwrap_or_default());
        let why = if self.before.is_none() && after.everyone {
            "it is new and lets in every network; nobody says whether that is meant"
        } else if after.lacks_some_of(&before) {
            "it keeps out networks that it let in; who calls from there is not in these documents"
        } else if after.has_azure() && !before.has_azure() && !before.everyone {
            "it lets in every machine in Azure, also of other customers; nobody says whether that is meant"
        } else {
            return None;
        };
        Some(Unread { what: format!("the firewall of {}", self.object), why: why.to_owned() })
    }
}

/// Tells whether a type says who may call a service of data.
pub(super) fn is_admission(kind: &str) -> bool {
    service_of(kind).is_some() || SUBNET_RULES.contains(&kind) || ACCOUNTS.contains(&kind)
}

/// Tells whether deleting a resource of a type deletes a service, and not only a rule of one.
pub(super) fn is_account(kind: &str) -> bool {
    ACCOUNTS.contains(&kind) && kind != "azurerm_storage_account_network_rules"
}

fn service_of(kind: &str) -> Option<&'static Service> {
    SERVICES.iter().find(|one| one.terraform.contains(&kind) || one.manager.contains(&kind))
}

/// Reads a change; `Err` where a part of it says nothing that can be read.
pub(super) fn admission(kind: &str, id: Option<&str>, before: &Value, after: &Value) -> Option<Admission> {
    let callers = |row: &Value| if row.is_null() { Some(None) } else { callers(kind, row).map(Some) };
    let row = if after.is_null() { before } else { after };
    let name = row.text("name").map(str::to_owned).or_else(|| id.and_then(last)).unwrap_or_default();
    let owner = id.and_then(parent).or_else(|| {
        let fields = ["server_id", "server_name", "redis_cache_name", "synapse_workspace_id", "cluster_id"];
        fields.iter().find_map(|field| row.text(field)).and_then(last)
    });
    let account = row.text("storage_account_id").and_then(last);
    let address = service_of(kind)
        .zip(owner.as_ref())
        .map(|(own, owner)| (format!("{owner}.{}", own.domain), own.port));
    let object = match (account, owner, is_account(kind)) {
        (Some(account), _, _) => account,
        (None, Some(owner), false) => format!("{owner}/{name}"),
        (None, _, _) => name,
    };
    Some(Admission { object, address, before: callers(before)?, after: callers(after)? })
}

/// Returns the name of the resource that a resource is part of.
fn parent(id: &str) -> Option<String> {
    let (_, rest) = id.rsplit_once("/providers/")?;
    let parts: Vec<&str> = rest.split('/').collect();
    (parts.len() >= 5).then(|| parts.get(parts.len() - 3).map(|part| (*part).to_owned())).flatten()
}

fn callers(kind: &str, row: &Value) -> Option<Callers> {
    let inner = row.field("properties").filter(|inner| inner.is_object()).unwrap_or(row);
    if service_of(kind).is_some() {
        let one = |names: [&str; 2]| {
            let text = names.iter().find_map(|name| inner.text(name))?;
            text.parse::<IpAddr>().ok()
        };
        let range = (one(["start_ip_address", "start_ip"])?, one(["end_ip_address", "end_ip"])?);
        return Some(Callers { ranges: BTreeSet::from([range]), ..Callers::default() });
    }
    if SUBNET_RULES.contains(&kind) {
        let subnet = inner.text("subnet_id").or_else(|| inner.text("virtualNetworkSubnetId"))?;
        return Some(Callers {
            subnets: BTreeSet::from([subnet.to_ascii_lowercase()]),
            ..Callers::default()
        });
    }
    account_callers(kind, inner)
}

fn account_callers(kind: &str, row: &Value) -> Option<Callers> {
    let is_closed = match row.field("publicNetworkAccess") {
        Some(Value::String(word)) if word.eq_ignore_ascii_case("enabled") => false,
        Some(Value::String(_)) => true,
        Some(Value::Null) | None => row.field("public_network_access_enabled") == Some(&Value::Bool(false)),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => return None,
    };
    let mut callers = Callers::default();
    if is_closed {
        return Some(callers);
    }
    let rules = if kind == "azurerm_storage_account_network_rules" {
        vec![row]
    } else {
        let names = ["network_rules", "network_acls", "network_rule_set"];
        let found = names.iter().find_map(|name| row.field(name)).filter(|rules| !rules.is_null());
        match found {
            Some(Value::Array(all)) => all.iter().collect(),
            Some(one) => vec![one],
            None => Vec::new(),
        }
    };
    // Of a database account the lists alone say who is let in.
    let cosmos = kind == "azurerm_cosmosdb_account" || kind == "microsoft.documentdb/databaseaccounts";
    let mut is_denied = false;
    for one in rules.into_iter().chain(cosmos.then_some(row)) {
        is_denied |= one.text("default_action").is_some_and(|word| word.eq_ignore_ascii_case("deny"));
        for field in ["ip_rules", "ip_range_filter", "ip_rule"] {
            let ranges = match one.field(field) {
                Some(Value::Array(list)) => list.iter().map(range).collect::<Option<Vec<_>>>()?,
                Some(Value::String(text)) => {
                    let parts = text.split(',').filter(|part| !part.trim().is_empty());
                    parts.map(|part| parse_range(part.trim())).collect::<Option<Vec<_>>>()?
                }
                Some(Value::Null) | None => Vec::new(),
                Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => return None,
            };
            callers.ranges.extend(ranges);
        }
        for field in
            ["virtual_network_subnet_ids", "virtual_network_rule", "virtual_network_rules", "virtual_network"]
        {
            for item in one.field(field).and_then(Value::as_array).into_iter().flatten() {
                let id = item.as_str().or_else(|| item.text("id")).or_else(|| item.text("subnet_id"))?;
                callers.subnets.insert(id.to_ascii_lowercase());
            }
        }
    }
    if cosmos {
        let filtered = row.field("is_virtual_network_filter_enabled") == Some(&Value::Bool(true));
        is_denied = filtered || !callers.ranges.is_empty();
    }
    Some(if is_denied { callers } else { Callers { everyone: true, ..Callers::default() } })
}

/// Reads an item of a list of addresses.
fn range(item: &Value) -> Option<(IpAddr, IpAddr)> {
    let names = ["value", "ip_address_or_range", "ipAddressOrRange", "ip_range", "ipMask", "ip_mask"];
    let text = item.as_str().or_else(|| names.iter().find_map(|name| item.text(name)))?;
    parse_range(text.trim())
}

fn parse_range(text: &str) -> Option<(IpAddr, IpAddr)> {
    if let Some((from, to)) = text.split_once('-') {
        return Some((from.trim().parse().ok()?, to.trim().parse().ok()?));
    }
    let net = parse_prefix(text)?;
    // The platform writes all of Azure as one address.
    Some((net.network(), net.broadcast()))
}
