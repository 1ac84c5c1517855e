//! The configuration, in the bot's own words.

use std::collections::BTreeMap;

use crate::cli::engine::limits;
use crate::cli::investigate::{configured_clusters, configured_hosts, knows_cloud, with_nodes};
use ghost_agent::bot::{Approvers, ChannelRules, People, Settings};
use ghost_investigate::event::{SessionCluster, SessionHost};
use ghost_investigate::usage::DayBudget;
use ghost_investigate::{RequesterMay, SelfApproval};
use ghost_shell::{Scope, Surroundings};
use ghost_tools::config::{self, Config};
use ghost_tools::setup::Setup;

/// Returns how the bot behaves.
pub(in crate::cli) fn settings(setup: &Setup) -> Settings {
    let config = &setup.config;
    let known = configured_hosts(setup);
    let all_clusters = configured_clusters(&setup.config);
    let without_cloud = (!known.is_empty() || !all_clusters.is_empty()) && !knows_cloud(setup);
    let rules = |approvers, own: Option<&config::Scope>, usage| {
        let is_open =
            |host: &SessionHost| own.is_none_or(|own| own.hosts.is_empty() || own.hosts.contains(&host.name));
        let (hosts, closed): (Vec<SessionHost>, Vec<SessionHost>) = known.iter().cloned().partition(is_open);
        let is_known = |cluster: &SessionCluster| {
            own.is_none_or(|own| own.clusters.is_empty() || own.clusters.contains(&cluster.name))
        };
        let (clusters, closed_clusters): (Vec<SessionCluster>, Vec<SessionCluster>) =
            all_clusters.iter().cloned().partition(is_known);
        let clusters = with_nodes(clusters, &hosts);
        ChannelRules {
            approvers,
            scope: own.map(scope),
            hosts,
            closed_hosts: closed.into_iter().map(|host| host.name).collect(),
            clusters,
            closed_clusters: closed_clusters.into_iter().map(|cluster| cluster.name).collect(),
            without_cloud,
            day: day(usage),
        }
    };
    let anywhere = rules(approvers(config, None), config.bot.scope.as_ref(), &config.usage);
    let channels: BTreeMap<String, ChannelRules> = config
        .channel
        .iter()
        .map(|(id, channel)| {
            let own = channel.scope.as_ref().or(config.bot.scope.as_ref());
            let usage = channel.usage.as_ref().unwrap_or(&config.usage);
            (id.clone(), rules(approvers(config, Some(channel)), own, usage))
        })
        .collect();
    let mut limits = limits(setup);
    limits.approvers = config.approval.change_approvers();
    limits.outage_approvers = config.approval.outage_approvers();
    Settings {
        anywhere,
        channels,
        only_named: config.bot.only_named_channels,
        alert_bots: config.bot.alert_bots.clone(),
        freezers: people(&config.bot.freezers),
        broadcast: config.bot.broadcast,
        limits,
        surroundings: Surroundings::default(),
        acts_as: setup.acts_as(),
        channel_context: usize::from(config.bot.channel_context),
        follow_ups: config.bot.follow_ups,
        start_emoji: Some(config.bot.start_emoji.clone()).filter(|emoji| !emoji.is_empty()),
        join_channels: config.bot.join_channels.clone(),
    }
}

fn approvers(config: &Config, channel: Option<&config::Channel>) -> Approvers {
    let own = |pick: fn(&config::Channel) -> &Option<config::People>| {
        channel.and_then(|channel| pick(channel).as_ref())
    };
    Approvers {
        measurement: people(own(|channel| &channel.measurement).unwrap_or(&config.approval.measurement)),
        outage: own(|channel| &channel.outage)
            .map_or_else(|| people(&config.approval.outage.people()), people),
        change: own(|channel| &channel.change)
            .map_or_else(|| people(&config.approval.change.people()), people),
        own: SelfApproval {
            requester: match config.approval.requester {
                Some(config::RequesterMay::Everything) => RequesterMay::Everything,
                Some(config::RequesterMay::Nothing) => RequesterMay::Nothing,
                Some(config::RequesterMay::Measure) | None => RequesterMay::Measure,
            },
            modifier: config.approval.modifier.unwrap_or(false),
        },
    }
}

fn people(people: &config::People) -> People {
    People { users: people.users.clone(), groups: people.groups.clone() }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the configuration bounds it")]
fn day(usage: &config::Usage) -> DayBudget {
    DayBudget {
        tokens: usage.tokens_per_day,
        cost_micros: (usage.dollars_per_day * 1_000_000.0).round() as u64,
        commands: usage.commands_per_day,
        minutes: usage.minutes_per_day,
    }
}

fn scope(scope: &config::Scope) -> Scope {
    Scope { subscriptions: scope.subscriptions.clone(), resource_groups: scope.resource_groups.clone() }
}
