//! The command lines of `az` and `kubectl` that Ghost's tools can produce: all of them, and no other.
//!
//! Goes in: checked names, addresses, ports. Comes out: a line, which says whether it changes anything. Never: a word of anybody else
//! outside the value of an option.
//!
//! Which option a subcommand wants differs among siblings (`packet-capture create` takes the group of the machine, its siblings the
//! region of the watcher): here it is written down once.

mod compute;
mod gateway;
mod health;
mod inside;
mod network;
mod storage;
mod subscription;
mod text;
mod watch;

pub use compute::{extensions, instance_view, machine, machines, run_script, scripts_carrier};
pub use gateway::{
    bgp_peers, circuits, connection, connection_trouble, connections, learned_routes, local_gateways,
    virtual_gateways,
};
pub use health::{availability, platform_events};
pub use inside::{cluster_objects, cluster_policies};
pub use network::{
    activity, activity_between, address_groups, application_gateways, backend_health, bastions, clusters,
    effective_routes, effective_rules, failed_connections, firewall_policy, firewall_rules, firewalls,
    interface, interfaces, load_balancers, nat_gateways, network, networks, private_endpoints,
    public_addresses, route_table, route_tables, security_group, security_groups, service_tags, signed_in,
    subnet, zone_links, zone_records, zones,
};
pub use storage::{
    account, accounts, blob_delete, blob_download, blob_exists, blob_fetch, blob_upload, blobs,
    container_exists, flow_log_blobs, flow_log_part,
};
pub use subscription::{
    find_address, find_machine, interfaces_of, machines_of, management_groups, subscriptions,
};
pub use text::Line;
pub use watch::{
    CaptureLimits, capture_create, capture_delete, capture_status, capture_stop, captures, connectivity,
    flow_logs, ip_flow, next_hop, topology, watchers,
};
