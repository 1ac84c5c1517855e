//! The words that labels may hold.

/// Declares an enum whose values each have one word, and the list of all of them.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$what])* $variant,)*
        }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the word that the label holds.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

words! {
    /// What arrived from Slack.
    Arrived {
        /// An event of the Events API.
        Event = "event",
        /// A click, a modal or a shortcut.
        Interaction = "interaction",
        /// A slash command.
        Command = "command",
        /// Something that this version does not know.
        Unknown = "unknown",
    }
}

words! {
    /// What the policy said about a command.
    Judged {
        /// It only reads.
        Safe = "safe",
        /// A human is asked.
        Risky = "risky",
        /// It never runs.
        Blocked = "blocked",
    }
}

words! {
    /// How a question to humans ended.
    Answer {
        /// As it was shown.
        Approved = "approved",
        /// No.
        Denied = "denied",
        /// Approved after an edit.
        Modified = "modified",
        /// Nobody answered in time.
        Expired = "expired",
        /// The session ended, or asked something else instead.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// The direction of tokens.
    Direction {
        /// To the model, beside the caches.
        Input = "input",
        /// To the model, read from its cache.
        Cached = "cached",
        /// To the model, and into its cache.
        CacheWrite = "cache_write",
        /// From the model.
        Output = "output",
    }
}

words! {
    /// Where a session stands.
    SessionState {
        /// This process drives it.
        Active = "active",
        /// It waits for a human.
        Waiting = "waiting",
        /// It waits for a process that has room.
        Queued = "queued",
    }
}

words! {
    /// Where a connection to Slack stands.
    SocketState {
        /// It is being opened.
        Connecting = "connecting",
        /// Slack has said hello.
        Open = "open",
        /// Another one took over; pending events still arrive here.
        Draining = "draining",
    }
}

words! {
    /// How a call to Slack ended.
    Outcome {
        /// As wanted.
        Ok = "ok",
        /// Slack understood and said no.
        Refused = "refused",
        /// Slack wants to be left alone for a while.
        RateLimited = "rate_limited",
        /// No answer in time.
        TimedOut = "timed_out",
        /// No connection, or an answer that cannot be read.
        Failed = "failed",
    }
}

words! {
    /// Whose fault a failure was.
    Whose {
        /// The person who asked.
        User = "user",
        /// The configuration.
        Config = "config",
        /// Slack, the store, the model or the cloud.
        Upstream = "upstream",
        /// Ghost itself.
        Internal = "internal",
    }
}

words! {
    /// What became of a request with an alert.
    AlertOutcome {
        /// It opened a session.
        Opened = "opened",
        /// Its group has a session already.
        Joined = "joined",
        /// What failed is looked at again.
        Resolved = "resolved",
        /// It came in a maintenance window.
        Maintenance = "maintenance",
        /// It is about what its channel may not look at.
        OutOfScope = "out_of_scope",
        /// It asks for nothing.
        Ignored = "ignored",
        /// It does not come from its source.
        Refused = "refused",
        /// Too many came in a minute.
        Limited = "limited",
        /// It is none, or too large.
        Unreadable = "unreadable",
        /// The store was away.
        Unavailable = "unavailable",
    }
}
