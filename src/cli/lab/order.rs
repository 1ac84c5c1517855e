//! `ghost lab set|state|reset|down`: orders to a lab that runs.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use super::place::{find, hinted, record};
use ghost_lab::control::steps;
use ghost_tools::global::Global;
use ghost_tools::print::{Hinted, line};
use ghost_tools::wait::drive;

/// The arguments of `ghost lab set`.
#[derive(Debug, Args)]
#[command(after_help = "Keys:\n  \
        lro_polls=N            so many polls find each operation still at work; 0 in the beginning\n  \
        lro_ms=N               each operation takes so many milliseconds, and says so to whoever asks\n  \
        answer_ms=N            so many milliseconds pass before each answer of the resource manager\n  \
        page_size=N|off        lists come in pages of N\n  \
        capture_limit=N|off    so many packet captures fit\n  \
        power=VM:STATE         running, stopped, deallocated, starting, stopping\n  \
        busy=VM, free=VM       a run-command runs there, or no longer\n  \
        remove=ID              a resource is gone, whoever needs it\n  \
        token=expired|good     the service refuses every token\n  \
        fault=PATTERN          the next requests that the regular expression finds in `METHOD path?query` are answered\n                         \
                               with status= (500), header='Name: value', body= (JSON or text), times= (1)\n  \
        clear                  none of this any more; machines and resources stay as they are\n\n\
        Either all is set, or nothing.\n\n\
        Examples:\n  ghost lab set lro_polls=2 page_size=1\n  ghost lab set power=tf-dest-vm:deallocated\n  \
        ghost lab set 'fault=GET .*networkSecurityGroups' status=429 'header=Retry-After: 1' times=3 \\\n      \
        'body={\"error\":{\"code\":\"TooManyRequests\",\"message\":\"Slow down.\"}}'\n  ghost lab set clear")]
pub(in crate::cli) struct Set {
    /// What is set.
    #[arg(required = true, value_name = "KEY=VALUE")]
    words: Vec<String>,
    #[command(flatten)]
    form: Form,
}

/// The arguments of an order without any.
#[derive(Debug, Args)]
pub(in crate::cli) struct Form {
    /// Prints a JSON document.
    #[arg(long)]
    json: bool,
}

/// The arguments of `ghost lab state`.
#[derive(Debug, Args)]
#[command(
    after_help = "It tells where the lab is, what is set, and which hosts programs wanted to reach that are none of the cloud's.\n\n\
        Examples:\n  ghost lab state\n  ghost lab state --json"
)]
pub(in crate::cli) struct State {
    #[command(flatten)]
    form: Form,
}

/// The arguments of `ghost lab reset`.
#[derive(Debug, Args)]
#[command(
    after_help = "Estate, blobs, machines, everything that was set: all is as when the lab came up, or before a case was injected. \
        Running operations end.\n\nExamples:\n  ghost lab reset"
)]
pub(in crate::cli) struct Reset {
    #[command(flatten)]
    form: Form,
}

/// The arguments of `ghost lab down`.
#[derive(Debug, Args)]
#[command(
    after_help = "It returns when nothing of the lab is left: no process, no file, no network of its own.\n\nExamples:\n  ghost lab down\n  \
        ghost lab down --data-dir /tmp/lab"
)]
pub(in crate::cli) struct Down {
    #[command(flatten)]
    form: Form,
}

/// Sets something.
pub(in crate::cli) fn set(arguments: &Set, lab: Option<&Path>, global: &Global) -> anyhow::Result<u8> {
    let steps = steps(&arguments.words)
        .map_err(|error| Hinted::new(error, "`ghost lab set --help` lists what can be set"))?;
    order("set", &json!(steps), lab, global)?;
    done(&arguments.form, "done")
}

/// Tells how the lab is.
pub(in crate::cli) fn state(arguments: &State, lab: Option<&Path>, global: &Global) -> anyhow::Result<u8> {
    let answer = order("state", &Value::Null, lab, global)?;
    if arguments.form.json {
        return line(&answer.to_string()).map(|()| 0);
    }
    let text = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    line(&format!(
        "{} (process {}), {} by its clock",
        text("url"),
        answer.get("pid").unwrap_or(&Value::Null),
        text("now")
    ))?;
    for (name, value) in answer.get("knobs").and_then(Value::as_object).into_iter().flatten() {
        line(&format!("  {name} = {}", if value.is_null() { "off".to_owned() } else { value.to_string() }))?;
    }
    if let Some(trouble) = answer.get("trouble").and_then(Value::as_str) {
        line(&format!("the machines are not what the estate says: {trouble}"))?;
    }
    for stranger in answer.get("strangers").and_then(Value::as_array).into_iter().flatten() {
        let word = |field: &str| stranger.get(field).and_then(Value::as_str).unwrap_or_default();
        line(&format!("refused at {}: {}", word("at"), word("host")))?;
    }
    Ok(0)
}

/// Makes everything as it was.
pub(in crate::cli) fn reset(arguments: &Reset, lab: Option<&Path>, global: &Global) -> anyhow::Result<u8> {
    order("reset", &Value::Null, lab, global)?;
    done(&arguments.form, "everything is as it was")
}

/// Takes the lab down.
pub(in crate::cli) fn down(arguments: &Down, lab: Option<&Path>, global: &Global) -> anyhow::Result<u8> {
    order("down", &Value::Null, lab, global)?;
    done(&arguments.form, "the lab is gone")
}

fn done(form: &Form, text: &str) -> anyhow::Result<u8> {
    line(if form.json { "{\"ok\":true}" } else { text }).map(|()| 0)
}

fn order(name: &str, body: &Value, lab: Option<&Path>, global: &Global) -> anyhow::Result<Value> {
    let remote = find(&record(lab, global)?)?;
    let mut answer = drive(|| remote.order(name, body))?.map_err(hinted)?;
    if let (Some(map), "state") = (answer.as_object_mut(), name) {
        map.insert("url".to_owned(), json!(remote.record().url));
        map.insert("pid".to_owned(), json!(remote.record().pid));
    }
    Ok(answer)
}
