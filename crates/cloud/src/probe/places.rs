//! Which resource groups are read: the one that was asked for, and those of other groups and subscriptions into which it leads.

use ghost_inspect::path::{Cloud, Place, Reading};
use serde_json::{Value, json};

use crate::operation::Issue;
use crate::{Name, ResourceGroup};

/// So many are read beside the first.
const MAX_OTHERS: usize = 6;

/// The resource groups that are read, and what became of each.
#[derive(Debug, Clone)]
pub struct Places {
    own: ResourceGroup,
    others: Vec<ResourceGroup>,
    rows: Vec<Value>,
}

impl Places {
    /// Begins with the one that was asked for.
    #[must_use]
    pub fn new(own: &ResourceGroup) -> Self {
        Self { own: own.clone(), others: Vec::new(), rows: Vec::new() }
    }

    /// Returns those that were read, the first one first.
    #[must_use]
    pub fn all(&self) -> Vec<ResourceGroup> {
        std::iter::once(&self.own).chain(&self.others).cloned().collect()
    }

    /// Returns how a place is asked for. Its subscription is named only where it is another one, so that what keeps to one subscription
    /// stays as it is.
    ///
    /// # Errors
    /// Says why it is not asked for.
    pub fn request(&self, cloud: &Cloud, place: &Place) -> Result<ResourceGroup, String> {
        if self.others.len() >= MAX_OTHERS {
            return Err(format!("more than {MAX_OTHERS} other resource groups are not read"));
        }
        self.named(cloud, place).ok_or_else(|| "its name is none of the platform's".to_owned())
    }

    /// Takes what the lists of a place say, or why nothing could be read there.
    pub fn opened(&mut self, place: &Place, read: Result<(ResourceGroup, Cloud), Issue>, cloud: &mut Cloud) {
        let mut row = json!({"subscription": place.subscription, "group": place.group});
        let (key, value) = match read {
            Ok((group, found)) => {
                self.others.push(group);
                ("unread", json!(cloud.join(found)))
            }
            Err(issue) => ("error", json!(closed(place, &issue))),
        };
        if let Some(map) = row.as_object_mut() {
            map.insert(key.to_owned(), value);
        }
        self.rows.push(row);
        self.write(cloud);
    }

    /// Takes what was read of one of them later.
    pub fn join(&mut self, from: &ResourceGroup, found: Cloud, cloud: &mut Cloud) {
        let failed = cloud.join(found);
        let is_of = |row: &&mut Value| {
            let group = row.get("group").and_then(Value::as_str).unwrap_or_default();
            group.eq_ignore_ascii_case(from.group.as_str())
                && match (&from.subscription, row.get("subscription").and_then(Value::as_str)) {
                    (Some(own), Some(known)) => known.eq_ignore_ascii_case(own.as_str()),
                    (Some(_) | None, _) => true,
                }
        };
        let unread = self.rows.iter_mut().find(is_of).and_then(|row| row.get_mut("unread"));
        if let Some(unread) = unread.and_then(Value::as_array_mut) {
            unread.extend(failed.into_iter().map(Value::from));
        }
        self.write(cloud);
    }

    /// Returns where a machine is, and its own name.
    #[must_use]
    pub fn of_machine(&self, cloud: &Cloud, name: &str) -> (ResourceGroup, String) {
        self.of(cloud, "machines", name)
    }

    /// Returns where a network interface is, and its own name.
    #[must_use]
    pub fn of_interface(&self, cloud: &Cloud, name: &str) -> (ResourceGroup, String) {
        self.of(cloud, "interfaces", name)
    }

    /// Returns where an application gateway is, and its own name.
    #[must_use]
    pub fn of_application_gateway(&self, cloud: &Cloud, name: &str) -> (ResourceGroup, String) {
        self.of(cloud, "application_gateways", name)
    }

    fn of(&self, cloud: &Cloud, list: &str, name: &str) -> (ResourceGroup, String) {
        let own = name.split('@').next().unwrap_or(name).to_owned();
        let place = cloud.place_in(list, name).and_then(|place| self.named(cloud, &place));
        (place.filter(|_| !self.others.is_empty()).unwrap_or_else(|| self.own.clone()), own)
    }

    fn named(&self, cloud: &Cloud, place: &Place) -> Option<ResourceGroup> {
        let is_own =
            cloud.subscription_of(self.own.group.as_str()).is_none_or(|own| own == place.subscription);
        if is_own && place.group.eq_ignore_ascii_case(self.own.group.as_str()) {
            return Some(self.own.clone());
        }
        let subscription = match is_own {
            true => self.own.subscription.clone(),
            false => Some(Name::parse(&place.subscription).ok()?),
        };
        Some(ResourceGroup { subscription, group: Name::parse(&place.group).ok()? })
    }

    fn write(&self, cloud: &mut Cloud) {
        cloud.places = Some(Reading::Text(Value::Array(self.rows.clone()).to_string()));
    }
}

/// Says what keeps whoever reads out of a place, and what would let them in.
fn closed(place: &Place, issue: &Issue) -> String {
    let Place { subscription, group } = place;
    let text = &issue.text;
    // The limits of a channel or of an identity are meant.
    if text.contains("the policy does not allow it") {
        return format!(
            "the subscription {subscription} or its group {group} is outside what may be read here"
        );
    }
    format!(
        "{text}; the reader needs its role of deploy/azure at /subscriptions/{subscription}/resourceGroups/{group}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(subscription: &str, group: &str, name: &str) -> Value {
        let id = format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Network/virtualNetworks/{name}"
        );
        json!({"id": id, "name": name})
    }

    fn cloud(rows: &[Value]) -> Cloud {
        Cloud { networks: Some(Reading::Text(json!(rows).to_string())), ..Cloud::default() }
    }

    fn own() -> ResourceGroup {
        ResourceGroup { subscription: None, group: Name::parse("web").unwrap() }
    }

    fn place(subscription: &str, group: &str) -> Place {
        Place { subscription: subscription.to_owned(), group: group.to_owned() }
    }

    #[test]
    fn another_subscription_is_named_and_the_own_one_is_not() {
        let (places, cloud) = (Places::new(&own()), cloud(&[id("S1", "Web", "net")]));
        let there = |subscription: &str, group: &str| {
            let found = places.request(&cloud, &place(subscription, group)).unwrap();
            (found.subscription.map(|own| own.to_string()), found.group.to_string())
        };
        assert_eq!(there("s1", "web"), (None, "web".to_owned()));
        assert_eq!(there("s1", "hub"), (None, "hub".to_owned()));
        assert_eq!(there("s2", "web"), (Some("s2".to_owned()), "web".to_owned()));
        assert!(places.request(&cloud, &place("s2", "--x")).is_err());
    }

    #[test]
    fn what_is_closed_says_what_would_open_it() {
        let (mut places, mut cloud) = (Places::new(&own()), cloud(&[id("s1", "web", "net")]));
        let refused = Issue::new(
            "listing the machines of hub: the identity may not do Microsoft.Compute/virtualMachines/read",
        );
        places.opened(&place("s2", "hub"), Err(refused), &mut cloud);
        let Some(Reading::Text(text)) = &cloud.places else { panic!("nothing was written") };
        assert!(
            text.contains("/subscriptions/s2/resourceGroups/hub") && text.contains("deploy/azure"),
            "{text}"
        );
        let limited = Issue::new("listing the machines of hub: the policy does not allow it: no");
        places.opened(&place("s3", "hub"), Err(limited), &mut cloud);
        let Some(Reading::Text(text)) = &cloud.places else { panic!("nothing was written") };
        assert!(text.contains("the subscription s3 or its group hub is outside"), "{text}");
        assert_eq!(places.all().len(), 1);
    }

    #[test]
    fn a_machine_is_asked_where_it_is_and_by_its_own_name() {
        let (mut places, mut cloud) = (Places::new(&own()), Cloud::default());
        cloud.machines = Some(Reading::Text(json!([id("s1", "web", "vm")]).to_string()));
        let hub = ResourceGroup {
            subscription: Some(Name::parse("s2").unwrap()),
            group: Name::parse("hub").unwrap(),
        };
        let more = Cloud {
            machines: Some(Reading::Text(json!([id("s2", "hub", "vm")]).to_string())),
            ..Cloud::default()
        };
        places.opened(&place("s2", "hub"), Ok((hub.clone(), more)), &mut cloud);
        assert_eq!(places.of_machine(&cloud, "vm@hub"), (hub, "vm".to_owned()));
        assert_eq!(places.of_machine(&cloud, "vm"), (own(), "vm".to_owned()));
    }
}
