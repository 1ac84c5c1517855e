//! What to do about a fault inside of a cluster.

use super::spoken::Inside;
use crate::judged::JudgedRemedy;
use crate::suspect::plain;
use ghost_inspect::cluster::{Cause, Fault, Object};
use ghost_shell::quote;

/// Returns what is done about a cause. Nothing of it was tried: what a policy or a service is meant to be only its owner knows.
pub(super) fn remedy(cause: &Cause, object: &str, inside: &Inside) -> JudgedRemedy {
    let (kind, name) = match &cause.object {
        Object::Policy(name) => ("networkpolicy", name),
        Object::Service(name) => ("service", name),
        Object::Pod(name) => ("pod", name),
    };
    let (namespace, name) = (plain(&name.namespace), plain(&name.name));
    let within = format!("kubectl --context {} -n {namespace}", quote(&inside.context));
    let risk = match cause.fault {
        Fault::PolicyDenies => {
            "policies only add up: a rule that allows more closes nothing, and opens what it names to all pods that the policy selects."
        }
        Fault::NoEndpoints | Fault::PortNotServed | Fault::ServicePortMissing => {
            "whoever calls the service is sent elsewhere at once; the object as it stands now puts it back."
        }
        Fault::NodeRulesStale => "connections through that node may stall while its rules are written anew.",
    };
    JudgedRemedy {
        fault: cause.fault.to_string(),
        object: object.to_owned(),
        what: format!(
            "In {}, {kind} {namespace}/{name}: {}.",
            plain(&inside.name),
            cause.remedy.replace('`', "")
        ),
        look: format!("`{within} get {kind} {name} -o yaml`"),
        commands: Vec::new(),
        effect: String::new(),
        risk: risk.to_owned(),
    }
}
