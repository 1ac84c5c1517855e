//! Orders to the lab: `/lab/…`.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::handler::OrderError;
use super::lab::{Lab, lock};
use super::setting::LabSetting;
use crate::azure::{Answer, Request, Verb};
use crate::host::{ConnectOutcome, HostError, Protocol, Script, ScriptTransport, Stage};
use ghost_base::{Clock as _, same};

/// A script for a machine, as a call brings it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    machine: String,
    script: String,
    #[serde(default)]
    arguments: Vec<String>,
    /// Through the platform's agent rather than a person's shell.
    #[serde(default)]
    agent: bool,
}

/// A connection to try.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dial {
    machine: String,
    to: IpAddr,
    protocol: Protocol,
    #[serde(default)]
    port: u16,
}

/// Time that passes at once.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdvanceTime {
    seconds: u32,
}

impl Lab {
    /// Answers a call below `/lab/`.
    pub(super) async fn call(self: &Arc<Self>, request: &Request) -> Answer {
        let refuse = |status: u16, what: &str| Answer::json(status, json!({"error": what}));
        // No page is served here: whatever names one as its origin is a page of somebody else.
        if request.header("origin").is_some() {
            return refuse(403, "pages of browsers give no orders here");
        }
        let shown = request.header("authorization").and_then(|header| header.strip_prefix("Bearer "));
        if !shown.is_some_and(|shown| same(shown, self.token.expose())) {
            return refuse(401, "an order needs the token of the lab's file");
        }
        let body = match (request.verb, request.body.as_slice()) {
            (Verb::Get | Verb::Post, []) => Value::Null,
            (Verb::Post, bytes) => match serde_json::from_slice(bytes) {
                Ok(body) => body,
                Err(error) => return refuse(400, &format!("the order is no JSON: {error}")),
            },
            _ => return refuse(405, "orders are GET or POST"),
        };
        let name = request.path.trim_matches('/').strip_prefix("lab/").unwrap_or_default().to_owned();
        match self.order(&name, &body).await {
            Ok(reported) => Answer::json(200, reported),
            Err(refused) => Answer::json(400, json!({"error": refused.what, "hint": refused.hint})),
        }
    }

    /// Does what is ordered.
    async fn order(self: &Arc<Self>, name: &str, body: &Value) -> Result<Value, OrderError> {
        for order_handler in &self.handlers {
            if let Some(done) = order_handler.call(self, name, body).await {
                return done;
            }
        }
        match name {
            "state" => return Ok(self.state()),
            "set" => self.set(LabSetting::read(body)?).await?,
            "keep" => self.keep().await.map_err(host)?,
            "reset" | "restore" => self.restore().await.map_err(host)?,
            "run" => return self.run(read(body)?).await,
            "dial" => return self.dial(read(body)?).await,
            "stage" => {
                let stage: Stage = read(body)?;
                self.host().stage(stage).await.map_err(host)?;
            }
            "pass" => {
                let AdvanceTime { seconds } = read(body)?;
                self.clock().pass(Duration::from_secs(seconds.into()));
                self.settle().await;
            }
            "down" => {
                let mut gone = self.gone.subscribe();
                self.down.send_replace(true);
                // The answer comes when there is nothing left.
                drop(gone.wait_for(|gone| *gone).await);
            }
            _ => {
                let hint = "orders are state, set, keep, reset, run, dial, stage, pass, down";
                return Err(
                    OrderError::new(format!("there is no order `{}`", name.escape_default())).hint(hint)
                );
            }
        }
        Ok(json!({"ok": true}))
    }

    fn state(&self) -> Value {
        let strangers = self.strangers();
        let strangers: Vec<Value> =
            strangers.into_iter().map(|(at, host)| json!({"at": at.to_string(), "host": host})).collect();
        json!({"now": self.clock().now().to_string(), "machines": self.cloud().machines(), "knobs": *lock(&self.current),
            "strangers": strangers, "trouble": self.trouble()})
    }

    async fn run(&self, run: Run) -> Result<Value, OrderError> {
        let transport = if run.agent { ScriptTransport::Agent } else { ScriptTransport::Ssh };
        let script = Script { text: run.script, arguments: run.arguments, variables: Vec::new(), transport };
        let ran = self.host().run(&run.machine, &script).await.map_err(host)?;
        Ok(json!({"out": ran.out, "err": ran.err, "code": ran.code, "took_ms": millis(ran.took)}))
    }

    async fn dial(&self, dial: Dial) -> Result<Value, OrderError> {
        let Dial { machine, to, protocol, port } = dial;
        Ok(match self.host().dial(&machine, to, protocol, port).await.map_err(host)? {
            ConnectOutcome::Open(took) => json!({"came": "open", "took_ms": millis(took)}),
            ConnectOutcome::Refused => json!({"came": "refused"}),
            ConnectOutcome::Silent => json!({"came": "silent"}),
        })
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn read<T: DeserializeOwned>(body: &Value) -> Result<T, OrderError> {
    serde_json::from_value(body.clone())
        .map_err(|error| OrderError::new(format!("the order cannot be read: {error}")))
}

fn host(error: HostError) -> OrderError {
    let refused = OrderError::new(error.to_string());
    match error {
        HostError::Unknown(_) => refused.hint("`ghost lab az -- vm list -o table` names the machines"),
        HostError::Off(_) => refused.hint("`ghost lab set power=NAME:running` starts it"),
        HostError::Silent(_) | HostError::Lacking(_) | HostError::Failed { .. } => refused,
    }
}
