//! Captures that sessions left behind: who sees them, and cleaning one up.

use std::sync::Arc;

use crate::bot::Leftover;
use crate::bot::core::Core;
use crate::bot::handle::command::Request;
use crate::bot::show;
use ghost_slack::arrive::Press;
use ghost_store::StoreError;

impl Core {
    /// Returns what is left over of the sessions that somebody asked for; whoever may hold everything back sees all of it.
    pub(super) async fn left_for(&self, user: &str) -> Result<Vec<Leftover>, StoreError> {
        let all = self.leftovers.list().await;
        if all.is_empty() || self.may_freeze(user).await.is_ok() {
            return Ok(all);
        }
        let mut own = Vec::new();
        for left in all {
            let state = self.state(&left.session).await?;
            if state.is_some_and(|state| state.opened.requester == user) {
                own.push(left);
            }
        }
        Ok(own)
    }

    /// Opens a session that cleans a left-over capture up, in the channel of the session that left it: what it takes is asked there.
    pub(super) async fn press_clean_up(
        self: &Arc<Self>,
        press: &Press,
        name: &str,
    ) -> Result<(), StoreError> {
        let user = press.user.id.clone();
        let answer = match self.cleaning(press, name).await? {
            Err(why) => why,
            Ok(request) => {
                let answer = format!("I ask for an approval in <#{}>.", request.channel);
                self.begin(&request).await.map_or_else(str::to_owned, |()| answer)
            }
        };
        let view = show::notice_modal(&answer);
        self.open_view(press.trigger_id.as_deref(), view, &Self::spot(press), &user).await;
        Ok(())
    }

    /// Returns the session that cleans up, or why there is none.
    async fn cleaning(&self, press: &Press, name: &str) -> Result<Result<Request, String>, StoreError> {
        if let Err(why) = self.participant(&press.user.id).await {
            return Ok(Err(why.to_string()));
        }
        let left = self.left_for(&press.user.id).await?;
        let Some(left) = left.into_iter().find(|left| left.name == name) else {
            return Ok(Err("That capture is not there any more, or not yours to see.".to_owned()));
        };
        let origin = self.state(&left.session).await?.map(|state| state.opened.origin);
        let place = origin.and_then(|origin| Some((origin.channel?, origin.team.unwrap_or_default())));
        let Some((channel, team)) = place else {
            let answer = "The session that left it is not in Slack: `ghost capture orphans --clean` asks in a terminal.";
            return Ok(Err(answer.to_owned()));
        };
        let Some(rules) = self.settings.rules(&channel).cloned() else {
            return Ok(Err("I do not work in the channel of its session any more.".to_owned()));
        };
        let (user, symptom) = (press.user.id.clone(), left.task());
        Ok(Ok(Request { team, key: press.key.clone(), channel, user, symptom, rules }))
    }
}
