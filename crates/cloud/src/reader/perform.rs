//! What stands behind a line: one read, or the few that its answer is put together from.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use ghost_base::{Clock as _, SystemClock, Timestamp};
use serde_json::{Value, json};

use super::client::Client;
use super::failure::Failure;
use super::log::RequestLog;
use super::request::{Request, health, seconds};
use super::shape::{Shape, group_of};
use super::table::{MACHINE, MACHINES, Read};

/// How many machines are read at once.
const AT_ONCE: usize = 6;

/// The version in which `az` asks for the interfaces and addresses of a machine.
const DETAIL_VERSION: &str = "2022-01-01";

/// How many events `az` prints, and how far it goes back, where nobody says.
const USUAL_EVENTS: usize = 50;
const USUAL_SECONDS: u64 = 6 * 3_600;

/// One line that is carried out.
pub(super) struct Reading<'a> {
    pub(super) client: &'a Client,
    pub(super) log: &'a RequestLog,
    pub(super) request: &'a Request,
    /// The id of the subscription that is asked.
    pub(super) subscription: &'a str,
}

impl Reading<'_> {
    /// Returns what `az` prints, before a query picks from it.
    pub(super) async fn document(&self) -> Result<Value, Failure> {
        let (row, version) = (self.request.row, [("api-version", self.request.row.version)]);
        let found = match row.read {
            Read::List(path) => Value::Array(self.list(&self.path(path), &version, None).await?),
            Read::One(path) => self.get(&self.path(path), &version).await?,
            Read::Parts(path, places) => self.parts(path, places).await?,
            Read::View(path) => self.view(&self.path(path)).await?,
            Read::Machine if self.has("details") => return self.detailed(&self.path(MACHINE)).await,
            Read::Machine => self.get(&self.path(MACHINE), &version).await?,
            Read::Machines => {
                let all = self.list(&self.path(MACHINES), &version, None).await?;
                if self.has("details") {
                    return self.all_detailed(&all).await;
                }
                Value::Array(all)
            }
            Read::Effective(question) => {
                let interface = self.path("Microsoft.Network/networkInterfaces/{name}");
                self.client.ask(self.log, &interface, question, None, row.version).await?
            }
            Read::About(path, question) => {
                let whom = self.path(path);
                self.client.ask(self.log, &whom, question, None, row.version).await?
            }
            Read::Groups => Value::Array(self.list(&self.below("/resourcegroups"), &version, None).await?),
            Read::Group => {
                self.get(&self.below(&self.request.filled("/resourcegroups/{name}")), &version).await?
            }
            Read::Activity => self.activity().await?,
            Read::Tags => {
                let path =
                    self.request.filled("/providers/Microsoft.Network/locations/{location}/serviceTags");
                self.get(&self.below(&path), &version).await?
            }
            Read::Watchers => {
                let path = self.below("/providers/Microsoft.Network/networkWatchers");
                Value::Array(self.list(&path, &version, None).await?)
            }
            Read::AboutMachine(question) => self.about_machine(question).await?,
            Read::Topology => self.topology().await?,
            Read::Captures(is_list) => self.captures(is_list).await?,
            Read::FlowLogs => self.flow_logs().await?,
            Read::CaptureStatus => self.capture_status().await?,
            Read::MachineNic => self.machine_nic().await?,
            Read::Addresses => self.addresses().await?,
            Read::Exists => {
                let path = self.below(&self.request.filled("/resourcegroups/{name}"));
                match self.get(&path, &version).await {
                    Ok(_) => Value::Bool(true),
                    Err(failure) if failure.exit == 3 => Value::Bool(false),
                    Err(failure) => return Err(failure),
                }
            }
            Read::NetworkRules => {
                let found =
                    self.get(&self.path("Microsoft.Storage/storageAccounts/{name}"), &version).await?;
                network_rules(Shape::Account.apply(row.name, found))
            }
            Read::Health => {
                let path = self.request.value("address").and_then(health).unwrap_or_default();
                self.get(&self.below(path), &version).await?
            }
            // These are known before anything is read.
            Read::Account | Read::Accounts => Value::Null,
        };
        Ok(row.shape.apply(row.name, found))
    }

    /// Reads one of a machine's interfaces.
    async fn machine_nic(&self) -> Result<Value, Failure> {
        let (vm, wanted) =
            (self.request.value("vm").unwrap_or_default(), self.request.value("nic").unwrap_or_default());
        let path = self.path("Microsoft.Compute/virtualMachines/{vm}");
        let machine = self.get(&path, &[("api-version", self.request.row.version)]).await?;
        let is_wanted = |nic: &&Value| {
            let last = text(nic, "/id").and_then(|id| id.rsplit('/').next().map(str::to_owned));
            last.is_some_and(|name| name.eq_ignore_ascii_case(wanted))
        };
        match entries(&machine, "/properties/networkProfile/networkInterfaces").find(is_wanted) {
            Some(nic) => self.get(&self.resource(nic)?, &[("api-version", DETAIL_VERSION)]).await,
            None => {
                let id = self.path("Microsoft.Network/networkInterfaces/{nic}");
                Err(Failure::new(format!("NIC '{id}' not found on VM '{vm}'")))
            }
        }
    }

    /// Reads the addresses of machines: of all interfaces and public addresses of the subscription, those that are wanted.
    async fn addresses(&self) -> Result<Value, Failure> {
        let version = [("api-version", self.request.row.version)];
        let list = async |kind: &str| {
            self.list(&self.below(&format!("/providers/Microsoft.Network/{kind}")), &version, None).await
        };
        let (publics, nics) = (list("publicIPAddresses").await?, list("networkInterfaces").await?);
        let is = |wanted: &str, found: &str| {
            self.request.value(wanted).is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
        };
        let mut all = Vec::new();
        for nic in &nics {
            let Some(id) = text(nic, "/properties/virtualMachine/id") else { continue };
            let (group, name) =
                (group_of(&id).unwrap_or_default(), id.rsplit('/').next().unwrap_or_default());
            if !is("group", group) || !is("name", name) {
                continue;
            }
            let (mut inner, mut outer) = (Vec::new(), Vec::new());
            for config in entries(nic, "/properties/ipConfigurations") {
                inner.push(config.pointer("/properties/privateIPAddress").cloned().unwrap_or_default());
                let public = text(config, "/properties/publicIPAddress/id");
                let own = publics.iter().find(|own| public.is_some() && text(own, "/id") == public);
                outer.extend(own.map(public_address));
            }
            let network = json!({"privateIpAddresses": inner, "publicIpAddresses": outer});
            all.push(json!({"virtualMachine": {"resourceGroup": group, "name": name, "network": network}}));
        }
        Ok(Value::Array(all))
    }

    fn has(&self, flag: &str) -> bool {
        self.request.values.contains_key(flag)
    }

    /// Returns a path in the subscription.
    pub(super) fn below(&self, rest: &str) -> String {
        format!("/subscriptions/{}{rest}", self.subscription)
    }

    /// Returns the path of a resource: in the group that the line names, or of the whole subscription.
    pub(super) fn path(&self, rest: &str) -> String {
        let rest = self.request.filled(rest);
        match self.request.value("group") {
            Some(group) => self.below(&format!("/resourceGroups/{group}/providers/{rest}")),
            None => self.below(&format!("/providers/{rest}")),
        }
    }

    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, Failure> {
        self.client.get(self.log, path, query).await
    }

    pub(super) async fn list(
        &self,
        path: &str,
        query: &[(&str, &str)],
        most: Option<usize>,
    ) -> Result<Vec<Value>, Failure> {
        self.client.list(self.log, path, query, most).await
    }

    async fn parts(&self, path: &str, places: &[&str]) -> Result<Value, Failure> {
        let found = self.get(&self.path(path), &[("api-version", self.request.row.version)]).await?;
        let wanted = if self.has("defaults") { places.len() } else { 1 };
        let lists = places.iter().take(wanted).filter_map(|place| found.pointer(place)?.as_array());
        Ok(Value::Array(lists.flatten().cloned().collect()))
    }

    async fn view(&self, path: &str) -> Result<Value, Failure> {
        let query = [("$expand", "instanceView"), ("api-version", self.request.row.version)];
        self.get(path, &query).await
    }

    async fn all_detailed(&self, machines: &[Value]) -> Result<Value, Failure> {
        let paths = machines.iter().map(|machine| self.resource(machine)).collect::<Result<Vec<_>, _>>()?;
        let each = stream::iter(paths).map(async |path| self.detailed(&path).await);
        let all: Vec<Value> = each.buffered(AT_ONCE).try_collect().await?;
        Ok(Value::Array(all))
    }

    /// Returns the path of what an object's id names; it has to lie in the subscription.
    pub(super) fn resource(&self, of: &Value) -> Result<String, Failure> {
        let id = of.get("id").and_then(Value::as_str).unwrap_or_default();
        let own = self.below("/resourceGroups/");
        let begins = id.get(..own.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(&own));
        let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.()/".contains(&byte));
        match begins && plain && !id.contains("..") && !id.contains("//") {
            true => Ok(id.to_owned()),
            false => Err(Failure::unreadable("an object is named that is none of the subscription")),
        }
    }

    /// Reads a machine with its state and the addresses of its interfaces.
    async fn detailed(&self, path: &str) -> Result<Value, Failure> {
        let machine = Shape::Flat.apply(self.request.row.name, self.view(path).await?);
        let power = entries(&machine, "/instanceView/statuses")
            .find(|status| text(status, "/code").is_some_and(|code| code.starts_with("PowerState/")))
            .and_then(|status| text(status, "/displayStatus"));
        let (mut inner, mut outer, mut hardware, mut names) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let version = [("api-version", DETAIL_VERSION)];
        for interface in entries(&machine, "/networkProfile/networkInterfaces") {
            let interface = self.get(&self.resource(interface)?, &version).await?;
            hardware.extend(text(&interface, "/properties/macAddress"));
            for config in entries(&interface, "/properties/ipConfigurations") {
                inner.extend(text(config, "/properties/privateIPAddress"));
                if let Some(address) = config.pointer("/properties/publicIPAddress") {
                    let address = self.get(&self.resource(address)?, &version).await?;
                    outer.extend(text(&address, "/properties/ipAddress"));
                    names.extend(text(&address, "/properties/dnsSettings/fqdn"));
                }
            }
        }
        let mut machine = machine;
        if let Some(map) = machine.as_object_mut() {
            map.remove("instanceView");
            map.insert("powerState".to_owned(), json!(power.unwrap_or_default()));
            for (field, values) in
                [("privateIps", inner), ("publicIps", outer), ("macAddresses", hardware), ("fqdns", names)]
            {
                map.insert(field.to_owned(), json!(values.join(",")));
            }
        }
        Ok(machine)
    }

    async fn activity(&self) -> Result<Value, Failure> {
        let (from, until) = self.span(SystemClock.now());
        let mut filter = format!("eventTimestamp ge {from} and eventTimestamp le {until}");
        if let Some(group) = self.request.value("group") {
            filter.push_str(&format!(" and resourceGroupName eq '{group}'"));
        }
        let query = [("$filter", filter.as_str()), ("api-version", self.request.row.version)];
        let most = self.request.value("events").and_then(|most| most.parse().ok()).unwrap_or(USUAL_EVENTS);
        let path = self.below("/providers/Microsoft.Insights/eventtypes/management/values");
        Ok(Value::Array(self.list(&path, &query, Some(most)).await?))
    }

    /// Returns from when until when changes are asked for.
    fn span(&self, now: Timestamp) -> (Timestamp, Timestamp) {
        let moment = |key: &str| {
            use time::format_description::well_known::Rfc3339;
            let read = time::OffsetDateTime::parse(self.request.value(key)?, &Rfc3339).ok()?;
            i64::try_from(read.unix_timestamp_nanos() / 1_000_000).ok().map(Timestamp::from_millis)
        };
        let until = moment("end").unwrap_or(now);
        let back = self.request.value("offset").and_then(seconds).unwrap_or(USUAL_SECONDS);
        let back = i64::try_from(back.saturating_mul(1_000)).unwrap_or(i64::MAX);
        let from = moment("start");
        (from.unwrap_or_else(|| Timestamp::from_millis(until.as_millis().saturating_sub(back))), until)
    }
}

fn public_address(of: &Value) -> Value {
    let id = text(of, "/id").unwrap_or_default();
    let field = |place: &str| of.pointer(place).cloned().unwrap_or_default();
    json!({
        "id": id, "name": field("/name"), "ipAddress": field("/properties/ipAddress"),
        "ipAllocationMethod": field("/properties/publicIPAllocationMethod"), "zone": field("/zones/0"),
        "resourceGroup": group_of(&id),
    })
}

/// Returns the rules of an account, as `az` prints them: without what holds where none of them does.
fn network_rules(account: Value) -> Value {
    let mut rules = account.get("networkRuleSet").cloned().unwrap_or_default();
    if let Some(map) = rules.as_object_mut() {
        map.insert("bypass".to_owned(), Value::Null);
        map.insert("defaultAction".to_owned(), Value::Null);
    }
    rules
}

fn text(document: &Value, place: &str) -> Option<String> {
    document.pointer(place).and_then(Value::as_str).map(str::to_owned)
}

fn entries<'a>(document: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> {
    document.pointer(place).and_then(Value::as_array).into_iter().flatten()
}
