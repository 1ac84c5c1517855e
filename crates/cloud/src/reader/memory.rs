//! Memory that holds a token is written nowhere when the process ends badly.

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Lets the system write no copy of this process's memory from now on, and no other user's process read it. What it starts begins with
/// such a limit, too: `az` holds tokens as well.
///
/// Neither call can fail: the limit is lowered, and the other one names a state that every process may take.
pub(super) fn keep_private() {
    let _limit = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // A collector of cores behind a pipe does not heed the limit.
    let _state = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
