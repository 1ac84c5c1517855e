//! The loop that drives an operation: its commands one after the other, and those that come later in any case beside them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ghost_base::Clock;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};

use super::port::{CommandKind, CommandOutcome, CommandRequest, Next, Operation, OperationExecutor};

/// Drives an operation to its end; `None` where it was interrupted. The operation sees its answers in its own order, however many
/// commands run at a time.
pub async fn drive<E: Operation>(
    operation: &mut E,
    executor: &dyn OperationExecutor,
    clock: &dyn Clock,
) -> Option<E::Result> {
    let mut commands = Commands::new(executor);
    loop {
        match operation.next(clock.now()) {
            Next::Run(order) => {
                if executor.at_once() > 1 {
                    commands.expect(operation.ahead());
                }
                let answer = commands.run(*order).await;
                operation.on_result(&answer, clock.now());
            }
            Next::Wait { until, why } => {
                let wait = executor.wait(until, &why);
                tokio::pin!(wait);
                let goes_on = loop {
                    tokio::select! {
                        biased;
                        goes_on = &mut wait => break goes_on,
                        () = commands.step(), if commands.is_busy() => {}
                    }
                };
                if !goes_on {
                    return None;
                }
            }
            Next::Over(result) => {
                // What has begun is on record, and so is its end.
                commands.finish().await;
                return Some(result);
            }
        }
    }
}

/// Commands that run at a time. Each is known by its text.
struct Commands<'a> {
    executor: &'a dyn OperationExecutor,
    /// What waits, runs or has ended and was not asked for yet.
    known: BTreeSet<String>,
    waiting: VecDeque<(String, CommandRequest)>,
    running: FuturesUnordered<BoxFuture<'a, (String, CommandOutcome)>>,
    ended: BTreeMap<String, CommandOutcome>,
}

impl<'a> Commands<'a> {
    fn new(executor: &'a dyn OperationExecutor) -> Self {
        Self {
            executor,
            known: BTreeSet::new(),
            waiting: VecDeque::new(),
            running: FuturesUnordered::new(),
            ended: BTreeMap::new(),
        }
    }

    /// Lets commands run that come later. What could change something never does.
    fn expect(&mut self, ahead: Vec<CommandRequest>) {
        for order in ahead {
            let Some(text) = reading(&order) else { continue };
            if self.known.insert(text.clone()) {
                self.waiting.push_back((text, order));
            }
        }
    }

    /// Runs a command, or waits for the answer to what was asked before.
    async fn run(&mut self, order: CommandRequest) -> CommandOutcome {
        let text = match reading(&order) {
            Some(text) => text,
            None => return self.executor.run(&order).await,
        };
        let waits = self.waiting.iter().position(|(own, _)| *own == text);
        let first = waits.and_then(|at| self.waiting.remove(at));
        match first {
            Some(first) => self.waiting.push_front(first),
            None if self.known.contains(&text) => {}
            None => self.waiting.push_front((text.clone(), order)),
        }
        loop {
            self.known.remove(&text);
            if let Some(answer) = self.ended.remove(&text) {
                return answer;
            }
            self.known.insert(text.clone());
            self.step().await;
        }
    }

    fn is_busy(&self) -> bool {
        !self.running.is_empty() || !self.waiting.is_empty()
    }

    /// Waits until one more command has ended.
    async fn step(&mut self) {
        while self.running.len() < self.executor.at_once().max(1)
            && let Some((text, order)) = self.waiting.pop_front()
        {
            let executor = self.executor;
            self.running.push(async move { (text, executor.run(&order).await) }.boxed());
        }
        if let Some((text, answer)) = self.running.next().await {
            self.ended.insert(text, answer);
        }
    }

    /// Waits for what has begun; what has not is not run any more.
    async fn finish(&mut self) {
        self.waiting.clear();
        while self.running.next().await.is_some() {}
    }
}

/// Returns the text of a command that only reads; nothing of one that a person may be asked about.
fn reading(order: &CommandRequest) -> Option<String> {
    match &order.what {
        CommandKind::Line(line) if !line.changes() && order.plan.is_empty() => Some(line.text()),
        CommandKind::Line(_) | CommandKind::Script { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use ghost_base::{SystemClock, Timestamp};
    use tokio::sync::{Mutex, Notify};

    use super::*;
    use crate::probe::EstateOperation;
    use crate::probe::effective::{Effective, EffectiveQuery, InterfaceScope};
    use crate::{Name, ResourceGroup};

    /// Answers nobody before so many commands run at the same time, or before all that are left do.
    struct Together {
        limit: usize,
        left: AtomicUsize,
        open: AtomicUsize,
        most: AtomicUsize,
        full: Notify,
        ran: Mutex<Vec<String>>,
    }

    impl Together {
        fn new(limit: usize, all: usize) -> Self {
            Self {
                limit,
                left: AtomicUsize::new(all),
                open: AtomicUsize::new(0),
                most: AtomicUsize::new(0),
                full: Notify::new(),
                ran: Mutex::default(),
            }
        }
    }

    #[async_trait]
    impl OperationExecutor for Together {
        async fn run(&self, order: &CommandRequest) -> CommandOutcome {
            let CommandKind::Line(line) = &order.what else { panic!("a script") };
            self.ran.lock().await.push(line.text());
            let stdout = match line.text() {
                text if text.contains("vnet show") => network(),
                text => format!("answer to {text}"),
            };
            let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(open, Ordering::SeqCst);
            while self.open.load(Ordering::SeqCst) < self.limit.min(self.left.load(Ordering::SeqCst)) {
                let full = self.full.notified();
                if self.open.load(Ordering::SeqCst) < self.limit.min(self.left.load(Ordering::SeqCst)) {
                    full.await;
                }
            }
            self.full.notify_waiters();
            self.left.fetch_sub(1, Ordering::SeqCst);
            self.open.fetch_sub(1, Ordering::SeqCst);
            CommandOutcome::Ran { exit: Some(0), stdout, stderr: String::new() }
        }

        async fn wait(&self, _: Timestamp, why: &str) -> bool {
            panic!("nothing waits: {why}")
        }

        fn at_once(&self) -> usize {
            self.limit
        }
    }

    const INTERFACES: usize = 100;

    /// A network in which a hundred machines are.
    fn network() -> String {
        let id = |number| {
            format!(
                "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/networkInterfaces/nic-{number}/ipConfigurations/a"
            )
        };
        let own: Vec<_> = (0..INTERFACES).map(|number| serde_json::json!({"id": id(number)})).collect();
        serde_json::json!({"subnets": [{"ipConfigurations": own}]}).to_string()
    }

    fn place() -> ResourceGroup {
        ResourceGroup { subscription: None, group: Name::parse("rg").unwrap() }
    }

    #[tokio::test]
    async fn a_hundred_interfaces_are_asked_about_at_the_same_time_and_none_gets_the_answer_of_another() {
        let scope = InterfaceScope::Network(Name::parse("app").unwrap());
        let what = [EffectiveQuery::Routes, EffectiveQuery::Rules];
        for (limit, most) in [(1, 1), (64, 64), (500, 2 * INTERFACES)] {
            // The network is asked for alone, before anybody knows what else there is.
            let executor = Together::new(limit, 2 * INTERFACES);
            let one = Together { limit: 1, ..Together::new(1, 1) };
            let mut operation = Effective::all(&place(), &scope, &what);
            let Next::Run(first) = operation.next(SystemClock.now()) else { panic!("nothing to run") };
            let answer = one.run(&first).await;
            operation.on_result(&answer, SystemClock.now());
            let found = drive(&mut operation, &executor, &SystemClock).await.unwrap().unwrap();
            assert_eq!(executor.most.load(Ordering::SeqCst), most);
            assert_eq!((found.len(), executor.ran.lock().await.len()), (INTERFACES, 2 * INTERFACES));
            for one in &found {
                let (routes, rules) = (one.text(what[0]).unwrap(), one.text(what[1]).unwrap());
                let own = format!("--name {} ", one.interface.name);
                assert!(routes.contains("show-effective-route-table") && routes.contains(&own), "{routes}");
                assert!(rules.contains("list-effective-nsg") && rules.contains(&own), "{rules}");
            }
        }
    }

    #[tokio::test]
    async fn the_lists_of_an_estate_are_asked_for_at_the_same_time() {
        let executor = Together::new(16, 5);
        let mut operation = EstateOperation::new(&place());
        let cloud = drive(&mut operation, &executor, &SystemClock).await.unwrap().unwrap();
        assert_eq!(executor.most.load(Ordering::SeqCst), 5);
        let text = |reading: &Option<ghost_inspect::path::Reading>| format!("{reading:?}");
        assert!(text(&cloud.machines).contains("vm list") && text(&cloud.networks).contains("vnet list"));
        assert!(text(&cloud.groups).contains("nsg list") && text(&cloud.interfaces).contains("nic list"));
    }
}
