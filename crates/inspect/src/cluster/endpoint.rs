//! Where a service leads.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::fault::{Cause, Fault, Object};
use super::object::{Cluster, Kind, Pod, PortRef, Service, ServicePort, Slice, SliceEndpoint};
use super::walk::End;

/// A place that a flow may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) end: End<'a>,
    /// What it is called, where it is a pod.
    pub(super) pod: Option<String>,
    pub(super) address: Option<IpAddr>,
    pub(super) port: u16,
}

impl<'a> Place<'a> {
    pub(super) fn of_pod(pod: &'a Pod, port: u16) -> Self {
        let address = pod.addresses.first().copied();
        Self { end: End::Pod(pod), pod: Some(pod.name.to_string()), address, port }
    }
}

/// Where a service leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Endpoints<'a> {
    /// To one of these.
    Places(Vec<Place<'a>>),
    /// Nowhere, and why.
    Nowhere(Cause),
    /// That is not known, and why.
    Unknown(String),
}

/// So many names of pods are written out.
const MAX_NAMES: usize = 5;

impl Cluster {
    /// Says where a port of a service leads a caller.
    pub(super) fn endpoints<'a>(
        &'a self,
        service: &'a Service,
        port: &ServicePort,
        caller: Option<&Pod>,
    ) -> Endpoints<'a> {
        if service.kind == "ExternalName" {
            return Endpoints::Unknown(format!("{} is another name for something outside", service.name));
        }
        if self.unread.contains(&Kind::Slice) {
            return Endpoints::Unknown("an EndpointSlice could not be read".to_owned());
        }
        let is_own = |slice: &&Slice| {
            slice.name.namespace == service.name.namespace
                && slice.service.as_deref() == Some(service.name.name.as_str())
        };
        let own: Vec<&Slice> = self.slices.values().filter(is_own).collect();
        if own.is_empty() {
            return self.derived(service, port, caller);
        }
        let mut offered: Vec<(&SliceEndpoint, u16)> = Vec::new();
        for slice in own {
            let is_it =
                |one: &&super::object::SlicePort| one.name == port.name && one.protocol == port.protocol;
            let Some(found) = slice.ports.iter().find(is_it) else { continue };
            let Some(number) = found.number else {
                return Endpoints::Unknown(format!(
                    "an EndpointSlice of {} has a port without a number",
                    service.name
                ));
            };
            offered.extend(slice.endpoints.iter().map(|one| (one, number)));
        }
        let has_ready = offered.iter().any(|(one, _)| one.is_ready);
        // Where none is ready, those that end and still answer are used.
        offered.retain(|(one, _)| one.is_ready || (!has_ready && one.is_serving_to_the_end));
        if offered.is_empty() {
            return Endpoints::Nowhere(self.why_none(service, port));
        }
        if service.is_local_inside {
            let Some(node) = caller.and_then(|caller| caller.node.as_ref()) else {
                return Endpoints::Unknown(local(service, "and the node of the caller is not known"));
            };
            offered.retain(|(one, _)| one.node.as_ref() == Some(node));
            if offered.is_empty() {
                let why = local(service, &format!("and none of them is on {node}"));
                return Endpoints::Nowhere(nowhere(service, why));
            }
        }
        Endpoints::Places(offered.into_iter().map(|(one, number)| self.place(service, one, number)).collect())
    }

    fn place(&self, service: &Service, one: &SliceEndpoint, port: u16) -> Place<'_> {
        let address = one.addresses.first().copied();
        let is_it = |pod: &&Pod| {
            pod.name.namespace == service.name.namespace
                && one.pod.as_ref().is_none_or(|name| *name == pod.name.name)
                && (one.pod.is_some() || address.is_some_and(|address| pod.addresses.contains(&address)))
        };
        if let Some(pod) = self.pods.values().find(is_it) {
            return Place { address, ..Place::of_pod(pod, port) };
        }
        let end = match (&one.pod, address) {
            (Some(name), _) => End::Hidden(format!("the pod {}/{name} was not read", service.name.namespace)),
            (None, Some(address)) => End::Address(address),
            (None, None) => End::Hidden(format!("an endpoint of {} has no address", service.name)),
        };
        let pod = one.pod.as_ref().map(|name| format!("{}/{name}", service.name.namespace));
        Place { end, pod, address, port }
    }

    /// Returns the pods that a service selects, those that have ended left out.
    fn selected(&self, service: &Service) -> Option<Vec<&Pod>> {
        let selector = service.selector.as_ref()?;
        let is_it = |pod: &&Pod| {
            pod.name.namespace == service.name.namespace && !pod.is_over() && selector.selects(&pod.labels)
        };
        Some(self.pods.values().filter(is_it).collect())
    }

    /// Says where a service leads of which no EndpointSlice was read.
    fn derived<'a>(
        &'a self,
        service: &'a Service,
        port: &ServicePort,
        caller: Option<&Pod>,
    ) -> Endpoints<'a> {
        let unknown = |why: &str| Endpoints::Unknown(format!("{}: {why}", service.name));
        let Some(selected) = self.selected(service) else {
            let are_read = self.slices.keys().any(|name| name.namespace == service.name.namespace);
            return match are_read {
                true => Endpoints::Nowhere(self.why_none(service, port)),
                false => unknown("it has no selector, and no EndpointSlice of it was read"),
            };
        };
        if self.unread.contains(&Kind::Pod) {
            return unknown("no EndpointSlice of it was read, and a pod could not be read");
        }
        if !self.pods.keys().any(|name| name.namespace == service.name.namespace) {
            return unknown("neither an EndpointSlice of it nor a pod of its namespace was read");
        }
        let is_usable = |pod: &&&Pod| {
            (pod.is_ready || service.takes_unready) && !pod.is_ending && !pod.addresses.is_empty()
        };
        let mut places = Vec::new();
        for pod in selected.iter().filter(is_usable) {
            match &port.target {
                PortRef::Number(number) => places.push(Place::of_pod(pod, *number)),
                PortRef::Name(name) => {
                    let numbers = pod.ports_named(name, port.protocol);
                    places.extend(numbers.into_iter().map(|number| Place::of_pod(pod, number)));
                }
            }
        }
        if places.is_empty() {
            return Endpoints::Nowhere(self.why_none(service, port));
        }
        if !self.slices.is_empty() {
            return unknown(
                "no EndpointSlice of it was read, though its selector matches pods that are ready",
            );
        }
        if service.is_local_inside {
            let node = caller.and_then(|caller| caller.node.as_ref());
            let Some(node) = node else {
                return Endpoints::Unknown(local(service, "and the node of the caller is not known"));
            };
            places.retain(|place| match &place.end {
                End::Pod(pod) => pod.node.as_ref() == Some(node),
                End::Address(_) | End::Hidden(_) => false,
            });
            if places.is_empty() {
                let why = local(service, &format!("and none of them is on {node}"));
                return Endpoints::Nowhere(nowhere(service, why));
            }
        }
        Endpoints::Places(places)
    }

    /// Says why a service leads nowhere.
    fn why_none(&self, service: &Service, port: &ServicePort) -> Cause {
        let Some(selected) = self.selected(service) else {
            let why = "it has no selector, and no endpoint that somebody gave it is ready";
            return nowhere(service, why.to_owned());
        };
        let namespace = &service.name.namespace;
        if selected.is_empty() {
            return nowhere(service, format!("its selector matches no pod of {namespace}"));
        }
        let ready: Vec<&&Pod> = selected.iter().filter(|pod| pod.is_ready || service.takes_unready).collect();
        if let (PortRef::Name(name), false) = (&port.target, ready.is_empty())
            && ready.iter().all(|pod| pod.ports_named(name, port.protocol).is_empty())
        {
            let declared: BTreeSet<String> =
                ready.iter().flat_map(|pod| pod.ports.iter().map(super::judge::port_text)).collect();
            let declared: Vec<String> = declared.into_iter().take(MAX_NAMES).collect();
            let have = match declared.is_empty() {
                true => "they declare none".to_owned(),
                false => format!("they have {}", declared.join(", ")),
            };
            let why = format!(
                "targetPort {name} ({}) is the name of no port of its {}: {have}",
                port.protocol,
                counted(ready.len(), "pod")
            );
            return Cause::proven(Fault::PortNotServed, Object::Service(service.name.clone()), why);
        }
        let names: Vec<&str> = selected.iter().take(MAX_NAMES).map(|pod| pod.name.name.as_str()).collect();
        let more = match selected.len().saturating_sub(names.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let why = match ready.is_empty() {
            true => format!(
                "its selector matches {}, and none is ready: {}{more}",
                counted(selected.len(), "pod"),
                names.join(", ")
            ),
            false => {
                format!("none of its endpoints is ready; its selector matches {}{more}", names.join(", "))
            }
        };
        nowhere(service, why)
    }
}

fn nowhere(service: &Service, why: String) -> Cause {
    Cause::proven(Fault::NoEndpoints, Object::Service(service.name.clone()), why)
}

fn local(service: &Service, and: &str) -> String {
    format!("{} leads only to pods on the node of the caller (internalTrafficPolicy), {and}", service.name)
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("one {what}") } else { format!("{number} {what}s") }
}
