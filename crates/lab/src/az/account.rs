//! Who is signed in: `az account …`, `az cloud …`, `az login`, `az logout`, `az version`.

use serde_json::{Value, json};

use super::failure::Failure;
use super::line::Line;
use super::profile::entry;
use super::retry::RetryPolicy;
use super::session::{Session, checked};
use super::sign_in::{SignIn, split};
use super::table::{Command, CommandResult};
use crate::azure::{Request, Verb};

/// The version that this one takes after.
const VERSION: &str = "2.91.0";

pub(super) const COMMANDS: &[Command] = &[
    Command::own("account show", "", show),
    Command::own("account list", "--all? --refresh?", list).rows(row),
    Command::own("account management-group list", "--no-register?", management_groups),
    Command::own("graph query", "--graph-query,-q! --first --subscriptions,-s* --management-groups,-m* --skip --skip-token --allow-partial-scopes", graph),
    Command::own("account set", "--subscription,-s,--name,-n!", set),
    Command::own("account list-locations", "--include-extended-locations%", locations),
    Command::own("account get-access-token", "--resource --resource-type --scope,--scopes* --tenant,-t", token),
    Command::own(
        "cloud register",
        "--name,-n! --endpoint-resource-manager --endpoint-active-directory --endpoint-active-directory-resource-id --suffix-storage-endpoint --cloud-config --profile",
        register,
    ),
    Command::own("cloud set", "--name,-n! --profile", choose),
    Command::own("cloud show", "--name,-n", cloud),
    Command::own("cloud list", "", clouds),
    Command::own(
        "login",
        "--identity,-i? --service-principal? --username,-u --password,-p --tenant,-t --client-id --allow-no-subscriptions?",
        login,
    )
    .rows(row),
    Command::own("logout", "--username", logout),
    Command::own("version", "", version),
];

/// Returns an entry as it is printed where the cloud has the other name.
fn listed(answer_body: &Value) -> Value {
    let mut answer_body = answer_body.clone();
    if let Some(map) = answer_body.as_object_mut()
        && let Some(cloud) = map.remove("environmentName")
    {
        map.insert("cloudName".to_owned(), cloud);
    }
    answer_body
}

fn show(session: &mut Session<'_>, _line: &Line) -> CommandResult {
    session.account().map(Some)
}

fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let here = session.profile.here();
    let enabled =
        |entry: &&&Value| line.has("--all") || entry.get("state").is_none_or(|state| state == "Enabled");
    let all: Vec<Value> = here.iter().filter(enabled).map(|entry| listed(entry)).collect();
    if here.is_empty() {
        session.warnings.push("Please run \"az login\" to access your accounts.".to_owned());
    }
    Ok(Some(Value::Array(all)))
}

fn management_groups(session: &mut Session<'_>, _line: &Line) -> CommandResult {
    const PATH: &str = "/providers/Microsoft.Management/managementGroups";
    let all = session.list(PATH, &[("api-version", "2021-04-01")], None)?;
    let flat = all.into_iter().map(|group| {
        let own = |field: &str| group.get(field).cloned().unwrap_or_default();
        let inner = |field: &str| group.pointer(&format!("/properties/{field}")).cloned().unwrap_or_default();
        json!({"displayName": inner("displayName"), "id": own("id"), "name": own("name"), "tenantId": inner("tenantId"), "type": own("type")})
    });
    Ok(Some(flat.collect()))
}

fn graph(session: &mut Session<'_>, line: &Line) -> CommandResult {
    const PATH: &str = "/providers/Microsoft.ResourceGraph/resources";
    let here = session.profile.here();
    let all: Vec<Value> = here.into_iter().filter_map(|entry| entry.get("id").cloned()).collect();
    let body = json!({"subscriptions": all, "query": line.need("--graph-query")?});
    let found = session.ask(Verb::Post, PATH, &[("api-version", "2022-10-01")], Some(&body))?;
    let found = checked(&found)?;
    let data = found.get("data").cloned().unwrap_or_default();
    Ok(Some(
        json!({"count": found.get("count"), "data": data, "skip_token": null, "total_records": found.get("totalRecords")}),
    ))
}

fn row(account: &Value) -> Vec<(&'static str, Value)> {
    let own = |field: &str| account.get(field).cloned().unwrap_or_default();
    let cloud = if own("cloudName").is_null() { own("environmentName") } else { own("cloudName") };
    vec![
        ("Name", own("name")),
        ("CloudName", cloud),
        ("SubscriptionId", own("id")),
        ("TenantId", own("tenantId")),
        ("State", own("state")),
        ("IsDefault", own("isDefault")),
    ]
}

fn set(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let name = line.need("--subscription")?;
    let missing = Failure::new(
        1,
        format!("The subscription of '{name}' doesn't exist in cloud '{}'.", session.profile.cloud()),
    );
    session.settle(name).map_err(|_| missing)?;
    session.warnings.clear();
    let chosen = session.account()?;
    let (id, cloud) = (chosen.get("id").cloned(), session.profile.cloud());
    for entry in &mut session.profile.subscriptions {
        let here = entry
            .get("environmentName")
            .and_then(Value::as_str)
            .is_some_and(|answer_body| answer_body.eq_ignore_ascii_case(&cloud));
        let first = entry.get("id").cloned() == id;
        if let Some(map) = entry.as_object_mut().filter(|_| here) {
            map.insert("isDefault".to_owned(), json!(first));
        }
    }
    Ok(None)
}

fn locations(session: &mut Session<'_>, _line: &Line) -> CommandResult {
    session.regions().map(|all| Some(Value::Array(all)))
}

fn token(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let account = session.account()?;
    let scope = line.one("--scope").map(|scope| scope.trim_end_matches("/.default").to_owned());
    let audience = session.profile.endpoint("endpoint_active_directory_resource_id").unwrap_or_default();
    let resource =
        line.one("--resource").map(str::to_owned).or(scope).unwrap_or_else(|| format!("{audience}/"));
    let token = session.token(&resource)?;
    // The token itself says until when it is good.
    use base64::Engine as _;
    let claims = token
        .split('.')
        .nth(1)
        .and_then(|part| base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(part).ok());
    let claims: Value = claims.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let until = claims
        .get("exp")
        .and_then(Value::as_i64)
        .unwrap_or_else(|| session.environment.now().as_millis() / 1000 + 3600);
    let text = ghost_base::Timestamp::from_millis(until.saturating_mul(1000)).to_string();
    let text = format!("{}000", text.replace('T', " ").trim_end_matches('Z'));
    Ok(Some(
        json!({"accessToken": token, "expiresOn": text, "expires_on": until, "subscription": account.get("id"),
        "tenant": account.get("tenantId"), "tokenType": "Bearer"}),
    ))
}

fn register(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let name = line.need("--name")?;
    if session.profile.clouds.contains_key(name) {
        return Err(Failure::new(1, format!("The cloud '{name}' is already registered.")));
    }
    let Some(base) = line.one("--endpoint-resource-manager") else {
        return Err(Failure::new(1, "--endpoint-resource-manager is required to register a cloud here."));
    };
    let (base, _) = split(base);
    let request = Request {
        verb: Verb::Get,
        base: base.clone(),
        path: "/metadata/endpoints".to_owned(),
        query: vec![("api-version".to_owned(), "2022-09-01".to_owned())],
        headers: std::collections::BTreeMap::new(),
        body: Vec::new(),
    };
    let answer_body = checked(&session.send(RetryPolicy::Management, &request)?)?;
    let text = |place: &str| answer_body.pointer(place).and_then(Value::as_str).map(str::to_owned);
    let storage =
        line.one("--suffix-storage-endpoint").map(str::to_owned).or_else(|| text("/suffixes/storage"));
    session.profile.register(name, &base, &storage.unwrap_or_default());
    let fields = [
        (
            "endpoint_active_directory",
            line.one("--endpoint-active-directory")
                .map(str::to_owned)
                .or_else(|| text("/authentication/loginEndpoint")),
        ),
        (
            "endpoint_active_directory_resource_id",
            line.one("--endpoint-active-directory-resource-id")
                .map(str::to_owned)
                .or_else(|| text("/authentication/audiences/0")),
        ),
    ];
    let cloud = session.profile.clouds.entry(name.to_owned()).or_default();
    for (field, value) in fields {
        cloud.extend(value.map(|value| (field.to_owned(), value)));
    }
    Ok(None)
}

fn known(session: &Session<'_>, name: &str) -> Result<(), Failure> {
    if name == "AzureCloud" || session.profile.clouds.contains_key(name) {
        return Ok(());
    }
    Err(Failure::new(1, format!("The cloud '{name}' is not registered.")))
}

fn choose(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let name = line.need("--name")?;
    known(session, name)?;
    session.profile.choose(name);
    session.warnings.push(format!("Switched active cloud to '{name}'."));
    if session.profile.here().is_empty() {
        session.warnings.push("Use 'az login' to log in to this cloud.".to_owned());
    }
    session.warnings.push("Use 'az account set' to set the active subscription.".to_owned());
    Ok(None)
}

fn described(session: &Session<'_>, name: &str) -> Value {
    let cloud = session.profile.clouds.get(name).cloned().unwrap_or_default();
    let part = |prefix: &str| -> Value {
        let fields = cloud.iter().filter_map(|(field, value)| Some((field.strip_prefix(prefix)?, value)));
        fields.map(|(field, value)| (camel(field), json!(value))).collect::<serde_json::Map<_, _>>().into()
    };
    json!({"endpoints": part("endpoint_"), "isActive": session.profile.cloud() == name, "name": name, "profile": "latest",
        "suffixes": part("suffix_")})
}

fn camel(field: &str) -> String {
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let mut letters = word.chars();
        let head: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
        format!("{text}{head}{}", letters.as_str())
    })
}

fn cloud(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let name = line.one("--name").map_or_else(|| session.profile.cloud(), str::to_owned);
    known(session, &name)?;
    Ok(Some(described(session, &name)))
}

fn clouds(session: &mut Session<'_>, _line: &Line) -> CommandResult {
    let mut names: Vec<String> = session.profile.clouds.keys().cloned().collect();
    for name in ["AzureBleuCloud", "AzureUSGovernment", "AzureChinaCloud", "AzureCloud"] {
        names.retain(|known| known != name);
        names.insert(0, name.to_owned());
    }
    Ok(Some(names.iter().map(|name| described(session, name)).collect()))
}

fn login(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let cloud = session.profile.cloud();
    let audience = session.profile.endpoint("endpoint_active_directory_resource_id").unwrap_or_default();
    let (who, user) = if line.has("--identity") {
        (
            SignIn::Machine,
            json!({"name": "systemAssignedIdentity", "type": "servicePrincipal", "assignedIdentityInfo": "MSI"}),
        )
    } else if line.has("--service-principal") {
        let need = |option: &str| line.one(option).map(str::to_owned);
        let (Some(client), Some(secret), Some(tenant)) =
            (need("--username"), need("--password"), need("--tenant"))
        else {
            return Err(Failure::usage(
                "usage error: --service-principal needs --username, --password and --tenant",
            ));
        };
        let user = json!({"name": client, "type": "servicePrincipal"});
        (SignIn::Principal { client, secret, tenant }, user)
    } else {
        return Err(Failure::new(
            1,
            "Nobody can sign in with a browser here: use --identity or --service-principal.",
        ));
    };
    let token = session.fetch_token(&who, &format!("{audience}/"))?;
    session.tokens.insert(format!("{audience}/"), token.clone());
    let request = Request {
        verb: Verb::Get,
        base: session.manager()?,
        path: "/subscriptions".to_owned(),
        query: vec![("api-version".to_owned(), "2022-12-01".to_owned())],
        headers: [("authorization".to_owned(), format!("Bearer {token}"))].into(),
        body: Vec::new(),
    };
    let answer_body = checked(&session.send(RetryPolicy::Management, &request)?)?;
    let found = answer_body.get("value").and_then(Value::as_array).cloned().unwrap_or_default();
    let entries: Vec<Value> = found
        .iter()
        .enumerate()
        .map(|(at, answer_body)| entry(&cloud, answer_body, &user, at == 0))
        .collect();
    if entries.is_empty() && !line.has("--allow-no-subscriptions") {
        return Err(Failure::new(1, "No subscriptions found."));
    }
    let elsewhere =
        |kept: &Value| kept.get("environmentName").and_then(Value::as_str) != Some(cloud.as_str());
    session.profile.subscriptions.retain(elsewhere);
    session.profile.subscriptions.extend(entries.iter().cloned());
    if let SignIn::Principal { client, secret, tenant } = who {
        session
            .profile
            .secrets
            .retain(|entry| entry.get("client_id").and_then(Value::as_str) != Some(client.as_str()));
        session.profile.secrets.push(json!({"client_id": client, "client_secret": secret, "tenant": tenant}));
        return Ok(Some(entries.iter().map(listed).collect()));
    }
    Ok(Some(Value::Array(entries)))
}

fn logout(session: &mut Session<'_>, _line: &Line) -> CommandResult {
    if session.profile.here().is_empty() {
        return Err(Failure::new(1, "There are no active accounts."));
    }
    let cloud = session.profile.cloud();
    session
        .profile
        .subscriptions
        .retain(|entry| entry.get("environmentName").and_then(Value::as_str) != Some(cloud.as_str()));
    session.profile.secrets.clear();
    Ok(None)
}

fn version(_session: &mut Session<'_>, _line: &Line) -> CommandResult {
    Ok(Some(
        json!({"azure-cli": VERSION, "azure-cli-core": VERSION, "azure-cli-telemetry": "1.1.0", "extensions": {}}),
    ))
}
