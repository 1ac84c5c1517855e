//! Questions to the network watcher of a region: where packets go, whether rules let them pass, and what is being captured.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::failure::Failure;
use super::perform::Reading;
use super::table::{MACHINES, Question};

/// The version in which `az` asks watchers.
const VERSION: &str = "2022-01-01";

/// The version in which `az` asks for a group.
const GROUP_VERSION: &str = "2024-11-01";

impl Reading<'_> {
    /// Asks the watcher of a machine's region about the machine.
    pub(super) async fn about_machine(&self, question: Question) -> Result<Value, Failure> {
        let path = self.path(&format!("{MACHINES}/{{vm}}"));
        let machine = self.get(&path, &[("api-version", self.request.row.version)]).await?;
        let watcher = self.watcher(region(&machine)).await?;
        let mut body = match question {
            Question::NextHop => self.hop(),
            Question::Flow => self.flow(),
            Question::Routes
            | Question::Rules
            | Question::Capture
            | Question::Topology
            | Question::BgpPeers
            | Question::LearnedRoutes
            | Question::BackendHealth => json!({}),
        };
        if let Some(map) = body.as_object_mut() {
            map.insert("targetResourceId".to_owned(), json!(path));
        }
        self.client.ask(self.log, &watcher, question, Some(&body), VERSION).await
    }

    /// Asks how a group's resources belong together.
    pub(super) async fn topology(&self) -> Result<Value, Failure> {
        let name = self.request.value("group").unwrap_or_default();
        let path = self.below(&format!("/resourcegroups/{name}"));
        let group = self.get(&path, &[("api-version", GROUP_VERSION)]).await?;
        let watcher = self.watcher(region(&group)).await?;
        let body = json!({"targetResourceGroupName": name});
        self.client.ask(self.log, &watcher, Question::Topology, Some(&body), VERSION).await
    }

    /// Reads the captures of a region, or one of them.
    pub(super) async fn captures(&self, is_list: bool) -> Result<Value, Failure> {
        let folder = format!("{}/packetCaptures", self.watcher_named().await?);
        let version = [("api-version", VERSION)];
        if is_list {
            return Ok(Value::Array(self.list(&folder, &version, None).await?));
        }
        self.get(&self.request.filled(&format!("{folder}/{{name}}")), &version).await
    }

    /// Lists the flow logs of a region.
    pub(super) async fn flow_logs(&self) -> Result<Value, Failure> {
        let folder = format!("{}/flowLogs", self.watcher_named().await?);
        Ok(Value::Array(self.list(&folder, &[("api-version", VERSION)], None).await?))
    }

    /// Asks how far a capture is.
    pub(super) async fn capture_status(&self) -> Result<Value, Failure> {
        let watcher = self.watcher_named().await?;
        let capture = self.request.filled(&format!("{watcher}/packetCaptures/{{name}}"));
        self.client.ask(self.log, &capture, Question::Capture, None, VERSION).await
    }

    async fn watcher_named(&self) -> Result<String, Failure> {
        self.watcher(self.request.value("location").unwrap_or_default().to_owned()).await
    }

    /// Returns the path of the watcher of a region.
    async fn watcher(&self, region: String) -> Result<String, Failure> {
        let path = self.below("/providers/Microsoft.Network/networkWatchers");
        let all = self.list(&path, &[("api-version", VERSION)], None).await?;
        let is_there = |watcher: &&Value| {
            watcher
                .get("location")
                .and_then(Value::as_str)
                .is_some_and(|own| own.eq_ignore_ascii_case(&region))
        };
        match all.iter().find(is_there) {
            Some(watcher) => self.resource(watcher),
            None => Err(Failure::new(format!("network watcher is not enabled for region {region}."))),
        }
    }

    fn hop(&self) -> Value {
        let address = |key: &str| self.request.value(key).unwrap_or_default();
        json!({"sourceIPAddress": address("source"), "destinationIPAddress": address("destination")})
    }

    fn flow(&self) -> Value {
        let word = |key: &str| self.request.value(key).unwrap_or_default();
        let (local, remote) = (end(word("local")), end(word("remote")));
        json!({
            "direction": word("direction"), "protocol": word("protocol"), "localIPAddress": local.0, "localPort": local.1,
            "remoteIPAddress": remote.0, "remotePort": remote.1,
        })
    }
}

fn region(document: &Value) -> String {
    document.get("location").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase()
}

fn end(text: &str) -> (&str, &str) {
    text.split_once(':').unwrap_or((text, ""))
}

/// Tells whether a text is an address and a port, or any port.
pub(super) fn is_end(text: &str) -> bool {
    let (address, port) = end(text);
    let is_port =
        port == "*" || port.parse::<u16>().is_ok_and(|number| number > 0 && port == number.to_string());
    is_port && address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv4())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_an_address_and_a_port() {
        for text in ["10.0.1.5:5001", "10.0.1.5:*", "203.0.113.7:65535"] {
            assert!(is_end(text), "{text}");
        }
        for text in [
            "10.0.1.5",
            "10.0.1.5:",
            "10.0.1.5:0",
            "10.0.1.5:070",
            "10.0.1.5:65536",
            "x:1",
            "fd00::1:7",
            "*:7",
        ] {
            assert!(!is_end(text), "{text}");
        }
    }
}
