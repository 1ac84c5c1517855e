//! Where tokens come from, asked again for every call, so that they can change while we run.

use ghost_base::Secret;

/// Knows the tokens of the present moment.
pub trait Tokens: Send + Sync {
    /// Returns the bot's token, `xoxb-…`.
    fn bot(&self) -> Secret;

    /// Returns the app's own token, `xapp-…`, which opens sockets.
    fn app(&self) -> Secret;
}

/// Tokens that never change.
#[derive(Debug, Clone)]
pub struct FixedTokens {
    /// The bot's token.
    pub bot: Secret,
    /// The app's own token; empty where requests are signed in place of sockets.
    pub app: Secret,
}

impl Tokens for FixedTokens {
    fn bot(&self) -> Secret {
        self.bot.clone()
    }

    fn app(&self) -> Secret {
        self.app.clone()
    }
}
