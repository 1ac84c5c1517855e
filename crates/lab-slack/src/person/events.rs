//! `GET /lab/events?user=`: what changed, as it changes.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use tokio::sync::broadcast::error::RecvError;

use crate::person::act::reply;
use crate::server::Inner;
use crate::state::Notice;

/// Streams changes that a person may see; to whom it is too fast, it says `all`.
pub(crate) async fn events(
    State(inner): State<Arc<Inner>>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let name = query.get("user").map(String::as_str).unwrap_or_default();
    let user = match inner.workspace().user_named(name) {
        Ok(user) => user.id.clone(),
        Err(error) => return reply(Err(error)),
    };
    let (notices, stop) = (inner.notices(), inner.stop.subscribe());
    let changes = unfold((inner, user, notices, stop), |(inner, user, mut notices, mut stop)| async move {
        loop {
            let notice = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return None,
                notice = notices.recv() => match notice {
                    Ok(notice) => notice,
                    Err(RecvError::Lagged(_)) => Notice::of("all"),
                    Err(RecvError::Closed) => return None,
                },
            };
            if !concerns(&inner, &user, &notice) {
                continue;
            }
            let text = serde_json::to_string(&notice).unwrap_or_default();
            let event = Event::default().event("change").data(text);
            return Some((Ok::<_, Infallible>(event), (inner, user, notices, stop)));
        }
    });
    Sse::new(changes).keep_alive(KeepAlive::default()).into_response()
}

/// Tells whether a change is for the eyes of this person.
fn concerns(inner: &Inner, user: &str, notice: &Notice) -> bool {
    if notice.user.as_ref().is_some_and(|only| only != user) {
        return false;
    }
    let Some(channel) = &notice.channel else { return true };
    let workspace = inner.workspace();
    workspace.channel(channel).is_ok_and(|place| workspace.may_enter(user, place))
}
