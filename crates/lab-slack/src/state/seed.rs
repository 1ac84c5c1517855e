//! A fresh workspace: who is there, and where they talk.

use std::collections::BTreeSet;

use crate::state::app::{App, SCOPES};
use crate::state::channel::{Channel, Kind};
use crate::state::model::{Workspace, seconds};
use crate::state::user::{Group, Membership, Team, User};
use ghost_base::{Digest, Timestamp};

const TEAM: &str = "T0LABTEAM1";
const PARTNER: &str = "T0LABTEAM2";
const GHOST: &str = "U0LABGHOST";
const ALERTS: &str = "U0LABALERT";

/// Id, name, whole name, what they do, where they are, and what they may.
const PEOPLE: [(&str, &str, &str, &str, &str, i64, Membership); 6] = [
    ("U0LABALICE", "alice", "Alice Moreau", "Network engineer", "Europe/Paris", 3600, Membership::Admin),
    ("U0LABBOB01", "bob", "Bob Okafor", "Site reliability", "Africa/Lagos", 3600, Membership::Member),
    ("U0LABCHLOE", "chloe", "Chloe Tanaka", "Platform lead", "Asia/Tokyo", 32400, Membership::Member),
    ("U0LABDAN01", "dan", "Dan Silva", "Support", "America/Sao_Paulo", -10800, Membership::Member),
    ("U0LABGUEST", "gus", "Gus Lindqvist", "Contractor", "Europe/Stockholm", 3600, Membership::Guest),
    ("U0LABPAULA", "paula", "Paula Novak", "Partner engineer", "Europe/Prague", 3600, Membership::Stranger),
];

/// A channel before it is one.
type ChannelSeed = (&'static str, &'static str, &'static str, Kind, bool, &'static [&'static str]);

/// Id, name, purpose, kind, whether it is shared, and who is there besides Ghost.
const CHANNELS: [ChannelSeed; 5] = [
    (
        "C0LAB0NETW",
        "network-incidents",
        "Trouble on the wire",
        Kind::Public,
        false,
        &["U0LABALICE", "U0LABBOB01", "U0LABCHLOE", ALERTS],
    ),
    (
        "C0LAB1GENE",
        "general",
        "Everybody",
        Kind::Public,
        false,
        &["U0LABALICE", "U0LABBOB01", "U0LABCHLOE", "U0LABDAN01", "U0LABGUEST"],
    ),
    ("C0LAB2SECR", "on-call", "Those who may approve", Kind::Private, false, &["U0LABALICE", "U0LABBOB01"]),
    (
        "C0LAB3SHAR",
        "ext-partner",
        "Shared with the partner",
        Kind::Public,
        true,
        &["U0LABALICE", "U0LABBOB01", "U0LABGUEST", "U0LABPAULA"],
    ),
    ("C0LAB4RAND", "random", "Ghost is not here", Kind::Public, false, &["U0LABALICE", "U0LABDAN01"]),
];

/// Builds a fresh workspace; everything secret in it follows from `salt`.
pub(crate) fn fresh(salt: &str, now: Timestamp) -> Workspace {
    let team = |id: &str, name: &str, domain: &str, enterprise: &str| Team {
        id: id.to_owned(),
        name: name.to_owned(),
        domain: domain.to_owned(),
        enterprise: enterprise.to_owned(),
    };
    let mut workspace = Workspace::empty(
        team(TEAM, "Ghost Lab", "ghost-lab", "E0LABORG01"),
        team(PARTNER, "Partner", "partner", "E0LABORG02"),
        salt.to_owned(),
    );
    let created = seconds(now);
    for (id, name, real_name, title, tz, tz_offset, standing) in PEOPLE {
        let at = if standing == Membership::Stranger { "partner" } else { "ghost-lab" };
        let user = User {
            id: id.to_owned(),
            team: if standing == Membership::Stranger { PARTNER } else { TEAM }.to_owned(),
            name: name.to_owned(),
            real_name: real_name.to_owned(),
            display_name: name.to_owned(),
            title: title.to_owned(),
            email: format!("{name}@{at}.example"),
            tz: tz.to_owned(),
            tz_offset,
            standing,
            deleted: false,
            bot_id: None,
            app_id: None,
            updated: created,
        };
        workspace.users.insert(user.id.clone(), user);
    }
    add_app(&mut workspace, "A0LABGHOST", "B0LABGHOST", GHOST, "Ghost", true, created);
    add_app(&mut workspace, "A0LABALERT", "B0LABALERT", ALERTS, "Alerts", false, created);
    for (id, name, purpose, kind, shared, members) in CHANNELS {
        let mut members: BTreeSet<String> = members.iter().map(|id| (*id).to_owned()).collect();
        if name != "random" {
            members.insert(GHOST.to_owned());
        }
        let channel = Channel {
            purpose: purpose.to_owned(),
            shared,
            members,
            ..Channel::new(id, name, kind, "U0LABALICE", created)
        };
        workspace.channels.insert(id.to_owned(), channel);
    }
    for (id, handle, name, users) in [
        ("S0LABONCAL", "on-call", "On call", ["U0LABALICE", "U0LABBOB01"].as_slice()),
        ("S0LABPLATF", "platform", "Platform", &["U0LABCHLOE"]),
    ] {
        workspace.groups.push(Group {
            id: id.to_owned(),
            handle: handle.to_owned(),
            name: name.to_owned(),
            description: String::new(),
            users: users.iter().map(|id| (*id).to_owned()).collect(),
            created,
        });
    }
    workspace
}

/// Adds an app and its user; every secret of it follows from the salt and its id.
pub(crate) fn add_app(
    workspace: &mut Workspace,
    id: &str,
    bot_id: &str,
    user: &str,
    name: &str,
    listens: bool,
    created: i64,
) {
    let secret = |what: &str, length: usize| -> String {
        let digest = Digest::of_fields([workspace.salt.as_str(), id, what]).to_string();
        digest.chars().take(length).collect()
    };
    let app = App {
        id: id.to_owned(),
        name: name.to_owned(),
        bot_id: bot_id.to_owned(),
        bot_user: user.to_owned(),
        bot_token: format!("xoxb-1-{}", secret("bot", 32)),
        app_token: format!("xapp-1-{id}-{}", secret("app", 40)),
        signing_secret: secret("signing", 32),
        verification_token: secret("verification", 24),
        scopes: SCOPES.iter().map(|scope| (*scope).to_owned()).collect(),
        events: None,
        listens,
        request_url: None,
        interactivity_url: None,
        command_url: None,
        command: format!("/{}", name.to_lowercase()),
        updated: created,
    };
    let bot = User {
        id: user.to_owned(),
        team: TEAM.to_owned(),
        name: name.to_lowercase(),
        real_name: name.to_owned(),
        display_name: String::new(),
        title: String::new(),
        email: String::new(),
        tz: "Etc/UTC".to_owned(),
        tz_offset: 0,
        standing: Membership::Bot,
        deleted: false,
        bot_id: Some(bot_id.to_owned()),
        app_id: Some(id.to_owned()),
        updated: created,
    };
    workspace.apps.push(app);
    workspace.users.insert(user.to_owned(), bot);
}
