//! Captures without an owner: only what is provably ours, and whose session is dead, is called an orphan.

use super::document::ListedCapture;
use super::name::Origin;
use super::request::Storage;
use super::task::CaptureTask;
use ghost_base::SessionId;

/// What is known of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// Somebody works on it, or will.
    Alive,
    /// It is over.
    Dead,
    /// Nothing is known: it may be another installation's.
    Unknown,
}

/// Whose a listed capture is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// Somebody else's.
    Another,
    /// Its name is one of Ghost's, but of a session that this installation does not know: it is left alone.
    Foreign(Origin),
    /// One of a task that is kept here, which owns it.
    CaptureTask(String),
    /// One of a session that is alive.
    Alive(Origin),
    /// Ours, and without an owner.
    Orphan(Orphan),
}

/// A capture of ours without an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Whose it was.
    pub origin: Origin,
    /// The machine's name.
    pub machine: String,
    /// Its file lies in our container under its name, so that it may be removed as well.
    pub file: bool,
}

/// Says whose a listed capture is. `life` says what is known of a session.
pub fn judge(
    listed: &ListedCapture,
    tasks: &[CaptureTask],
    storage: Option<&Storage>,
    life: &dyn Fn(&SessionId) -> Life,
) -> Ownership {
    let Some(origin) = Origin::of(&listed.name) else { return Ownership::Another };
    let machine = listed.target.rsplit('/').next().unwrap_or_default().to_owned();
    let file = storage.is_some_and(|storage| storage.address(&listed.name) == listed.path());
    for task in tasks {
        let Some(end) = task.ends.iter().find(|end| end.name.as_str() == listed.name) else { continue };
        // It says that nothing of it is left, and yet there it is: it began after everybody had given it up.
        let slipped = task.state().is_over() && !end.capture.remains();
        let own = listed.is_of(task.order.group.name.as_str(), end.machine.as_str())
            && listed.path() == task.order.storage.address(&listed.name);
        if slipped && own {
            return Ownership::Orphan(Orphan { origin, machine, file });
        }
        return Ownership::CaptureTask(task.id());
    }
    match life(&origin.session) {
        Life::Unknown => Ownership::Foreign(origin),
        Life::Alive => Ownership::Alive(origin),
        Life::Dead => Ownership::Orphan(Orphan { origin, machine, file }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Account, Container};

    fn listed(name: &str, container: &str) -> ListedCapture {
        let text = format!(
            r#"{{"name":"{name}","target":"/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/web-1","provisioningState":"Succeeded","storageLocation":{{"storagePath":"https://logs1.blob.core.windows.net/{container}/{name}.cap"}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn whose(name: &str, container: &str, life: Life) -> Ownership {
        let storage = Storage {
            account: Account::parse("logs1").unwrap(),
            container: Container::parse("captures").unwrap(),
            group: None,
        };
        judge(&listed(name, container), &[], Some(&storage), &|_| life)
    }

    #[test]
    fn only_a_dead_session_that_is_known_here_leaves_orphans() {
        let Ownership::Orphan(orphan) = whose("ghost-s1-1-src", "captures", Life::Dead) else {
            panic!("no orphan")
        };
        assert_eq!((orphan.machine.as_str(), orphan.file), ("web-1", true));
        assert!(matches!(whose("ghost-s1-1", "captures", Life::Unknown), Ownership::Foreign(_)));
        assert!(matches!(whose("ghost-s1-1", "captures", Life::Alive), Ownership::Alive(_)));
    }

    #[test]
    fn what_others_made_is_nobodys_business() {
        for name in ["nightly", "ghost_web_20250602T093100", "ghost-", "ghost-s1-01"] {
            assert_eq!(whose(name, "captures", Life::Dead), Ownership::Another, "{name}");
        }
    }

    #[test]
    fn what_began_after_its_task_had_given_it_up_is_an_orphan() {
        let order = crate::capture::CaptureRequest {
            group: crate::capture::Group { subscription: None, name: crate::Name::parse("rg").unwrap() },
            machines: vec!["web-1".to_owned()],
            storage: Storage {
                account: Account::parse("logs1").unwrap(),
                container: Container::parse("captures").unwrap(),
                group: None,
            },
            folder: "/tmp/captures".to_owned(),
            limits: crate::capture::Limits::default(),
            filters: Vec::new(),
        };
        let now = ghost_base::Timestamp::from_millis(0);
        let mut task = CaptureTask::new("s1".parse().unwrap(), 1, order, now).unwrap();
        let storage = task.order.storage.clone();
        let judged = |task: &CaptureTask, container| {
            let tasks = std::slice::from_ref(task);
            judge(&listed("ghost-s1-1", container), tasks, Some(&storage), &|_| Life::Alive)
        };
        assert_eq!(judged(&task, "captures"), Ownership::CaptureTask("s1-1".to_owned()));
        task.cancel();
        assert!(task.state().is_over());
        assert!(matches!(judged(&task, "captures"), Ownership::Orphan(Orphan { file: true, .. })));
        assert_eq!(
            judged(&task, "theirs"),
            Ownership::CaptureTask("s1-1".to_owned()),
            "it is written elsewhere"
        );
    }

    #[test]
    fn a_file_elsewhere_is_left_alone() {
        let Ownership::Orphan(orphan) = whose("ghost-s1-1", "theirs", Life::Dead) else {
            panic!("no orphan")
        };
        assert!(!orphan.file);
    }
}
