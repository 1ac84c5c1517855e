//! Who may do what: pure, from the configuration and from what Slack says about a person at this moment.
//!
//! What is not known is a no: a list that could not be fetched, a person of whom Slack says nothing, a class for which nobody
//! is named.

use std::collections::{BTreeMap, BTreeSet};

use ghost_investigate::event::Impact;
use ghost_investigate::{ApprovalRefused, SelfApproval, may_approve};

/// Somebody, as Slack describes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Person {
    /// Their id.
    pub id: String,
    /// Their name.
    pub name: String,
    /// Whether it is a program.
    pub is_bot: bool,
    /// Whether they left.
    pub is_deleted: bool,
    /// Whether they are a guest, of one channel or of several.
    pub is_guest: bool,
    /// Whether they belong to another organization.
    pub is_stranger: bool,
}

/// Why somebody may not do something; the text is for them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// A click or a message without a person.
    #[error("Slack does not say who you are")]
    Anonymous,
    /// Slack could not be asked about the person.
    #[error("Slack does not say who you are: {why}")]
    Unknown {
        /// How the call failed.
        why: String,
    },
    /// Slack did not answer in time.
    #[error("Slack does not say in time who you are")]
    Timeout,
    /// The account was deactivated.
    #[error("this account is deactivated")]
    Deactivated,
    /// The account is a bot's.
    #[error("programs take no part")]
    Program,
    /// The account is another organization's.
    #[error("people of other organizations take no part")]
    Stranger,
    /// The account is a guest's.
    #[error("guests take no part")]
    Guest,
    /// The members of a user group could not be fetched.
    #[error("who is in the group of approvers could not be found out: {why}")]
    GroupUnknown {
        /// How the call failed.
        why: String,
    },
    /// The configuration names nobody at all.
    #[error("the configuration names nobody who may")]
    NobodyNamed,
    /// The configuration names others.
    #[error("you are not among those who may")]
    NotNamed,
    /// The rules about approving one's own request or change.
    #[error(transparent)]
    Own(#[from] ApprovalRefused),
}

/// People who are named, one by one or by their groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct People {
    /// Their ids.
    pub users: BTreeSet<String>,
    /// Ids of user groups.
    pub groups: BTreeSet<String>,
}

/// Who belongs to each group that was asked about, or why that is not known.
pub type Groups = BTreeMap<String, Result<BTreeSet<String>, String>>;

/// Who decides in a channel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approvers {
    /// About captures and measurements.
    pub measurement: People,
    /// About what stops or restarts something that others use.
    pub outage: People,
    /// About everything else.
    pub change: People,
    /// What people may approve of what they asked for or changed themselves.
    pub own: SelfApproval,
}

impl Approvers {
    /// Returns who decides about what has such an impact.
    #[must_use]
    pub fn of(&self, impact: Impact) -> &People {
        match impact {
            Impact::Measurement => &self.measurement,
            Impact::Outage => &self.outage,
            Impact::Change => &self.change,
        }
    }
}

impl People {
    /// Tells whether nobody is named.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        self.users.is_empty() && self.groups.is_empty()
    }

    /// Tells whether somebody is among them.
    ///
    /// # Errors
    /// Says why not, or why it is not known.
    pub fn has(&self, user: &str, groups: &Groups) -> Result<(), AccessError> {
        if self.users.contains(user) {
            return Ok(());
        }
        let mut unknown = None;
        for group in &self.groups {
            match groups.get(group) {
                Some(Ok(members)) if members.contains(user) => return Ok(()),
                Some(Ok(_)) => {}
                Some(Err(why)) => unknown = Some(why.as_str()),
                None => unknown = Some("nobody asked"),
            }
        }
        match unknown {
            Some(why) => Err(AccessError::GroupUnknown { why: why.to_owned() }),
            None if self.is_nobody() => Err(AccessError::NobodyNamed),
            None => Err(AccessError::NotNamed),
        }
    }
}

impl Approvers {
    /// Returns who decides about something.
    #[must_use]
    pub fn about(&self, impact: Impact) -> &People {
        match impact {
            Impact::Measurement => &self.measurement,
            Impact::Outage => &self.outage,
            Impact::Change => &self.change,
        }
    }

    /// Says whether somebody may approve.
    ///
    /// # Errors
    /// Says why not.
    pub fn may_approve(
        &self,
        person: &Person,
        requester: &str,
        impact: Impact,
        groups: &Groups,
    ) -> Result<(), AccessError> {
        may_take_part(person)?;
        self.about(impact).has(&person.id, groups)?;
        Ok(may_approve(self.own.requester, requester, &person.id, impact)?)
    }
}

/// Says whether somebody may speak with the bot, steer it, stop it or deny. That is less than to approve.
///
/// # Errors
/// Says why not.
pub fn may_take_part(person: &Person) -> Result<(), AccessError> {
    match person {
        Person { id, .. } if id.is_empty() => Err(AccessError::Anonymous),
        Person { is_deleted: true, .. } => Err(AccessError::Deactivated),
        Person { is_bot: true, .. } => Err(AccessError::Program),
        Person { is_stranger: true, .. } => Err(AccessError::Stranger),
        Person { is_guest: true, .. } => Err(AccessError::Guest),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ghost_investigate::RequesterMay;

    fn person(id: &str) -> Person {
        Person { id: id.to_owned(), ..Person::default() }
    }

    fn named(users: &[&str], groups: &[&str]) -> People {
        let owned = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        People { users: owned(users), groups: owned(groups) }
    }

    fn approvers() -> Approvers {
        Approvers {
            measurement: named(&["ana", "ben"], &["oncall"]),
            outage: named(&["dora"], &[]),
            change: named(&["ben"], &[]),
            own: SelfApproval::default(),
        }
    }

    fn groups() -> Groups {
        Groups::from([("oncall".to_owned(), Ok(BTreeSet::from(["cara".to_owned()])))])
    }

    #[track_caller]
    fn refused(person: &Person, impact: Impact, groups: &Groups, part: &str) {
        let why = approvers().may_approve(person, "ana", impact, groups).unwrap_err().to_string();
        assert!(why.contains(part), "{why}");
    }

    #[test]
    fn who_is_named_may_approve_by_themselves_or_through_a_group() {
        for (id, impact) in [
            ("ana", Impact::Measurement),
            ("ben", Impact::Measurement),
            ("cara", Impact::Measurement),
            ("dora", Impact::Outage),
            ("ben", Impact::Change),
        ] {
            assert_eq!(approvers().may_approve(&person(id), "ana", impact, &groups()), Ok(()), "{id}");
        }
    }

    #[test]
    fn whoever_else_may_not() {
        refused(&person("dave"), Impact::Measurement, &groups(), "not among");
        refused(&person("cara"), Impact::Change, &groups(), "not among");
        // Neither a measurement nor a change makes anybody an approver of outages.
        refused(&person("ben"), Impact::Outage, &groups(), "not among");
        refused(&person("dora"), Impact::Change, &groups(), "not among");
        refused(&person(""), Impact::Change, &groups(), "who you are");
    }

    #[test]
    fn a_group_that_cannot_be_fetched_is_a_no() {
        let down = Groups::from([("oncall".to_owned(), Err("Slack does not answer".to_owned()))]);
        refused(&person("cara"), Impact::Measurement, &down, "Slack does not answer");
        refused(&person("cara"), Impact::Measurement, &Groups::new(), "nobody asked");
        // Who is named in person needs no group.
        assert_eq!(approvers().may_approve(&person("ben"), "ana", Impact::Measurement, &down), Ok(()));
    }

    #[test]
    fn a_configuration_that_names_nobody_lets_nobody() {
        let own = SelfApproval { requester: RequesterMay::Everything, modifier: true };
        let nobody = Approvers { own, ..Approvers::default() };
        for impact in [Impact::Measurement, Impact::Outage, Impact::Change] {
            let why = nobody.may_approve(&person("ana"), "ana", impact, &groups()).unwrap_err().to_string();
            assert!(why.contains("names nobody"), "{why}");
        }
    }

    #[test]
    fn guests_strangers_programs_and_those_who_left_take_no_part_even_where_they_are_named() {
        for (who, part) in [
            (Person { is_guest: true, ..person("ben") }, "guests"),
            (Person { is_stranger: true, ..person("ben") }, "other organizations"),
            (Person { is_bot: true, ..person("ben") }, "programs"),
            (Person { is_deleted: true, ..person("ben") }, "deactivated"),
        ] {
            refused(&who, Impact::Change, &groups(), part);
            assert!(may_take_part(&who).is_err());
        }
    }

    #[test]
    fn whoever_asked_cannot_approve_their_own_change() {
        let own = Approvers { change: named(&["ana"], &[]), ..approvers() };
        let why = own.may_approve(&person("ana"), "ana", Impact::Change, &groups()).unwrap_err().to_string();
        assert!(why.contains("somebody else"), "{why}");
    }
}
