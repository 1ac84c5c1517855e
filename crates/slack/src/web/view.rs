//! Modals and the home tab.

use serde_json::{Value, json};

use crate::arrive::View;
use crate::block::{SlackHomeView, SlackModalView, SlackView};
use crate::web::call::Web;
use crate::web::error::CallError;
use crate::web::message::value;

/// The document of a modal.
pub type Shape = SlackModalView;

impl Web {
    /// `views.open`: within three seconds of what made the trigger.
    ///
    /// # Errors
    /// Fails where the call does; `expired_trigger_id` means that it came too late.
    pub async fn open_view(&self, trigger: &str, modal: Shape) -> Result<View, CallError> {
        self.show("views.open", json!({"trigger_id": trigger}), SlackView::Modal(modal)).await
    }

    /// `views.push`: on top of the modal in which the trigger was made; three fit on one another.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn push_view(&self, trigger: &str, modal: Shape) -> Result<View, CallError> {
        self.show("views.push", json!({"trigger_id": trigger}), SlackView::Modal(modal)).await
    }

    /// `views.update`. With a hash only that version is changed: `hash_conflict` means that somebody was faster.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn update_view(&self, view: &str, hash: Option<&str>, modal: Shape) -> Result<View, CallError> {
        let mut arguments = json!({"view_id": view});
        if let (Some(hash), Some(map)) = (hash, arguments.as_object_mut()) {
            map.insert("hash".to_owned(), json!(hash));
        }
        self.show("views.update", arguments, SlackView::Modal(modal)).await
    }

    /// `views.publish`: what a person sees on the app's page.
    ///
    /// # Errors
    /// Fails where the call does.
    pub async fn publish_home(&self, user: &str, home: SlackHomeView) -> Result<View, CallError> {
        self.show("views.publish", json!({"user_id": user}), SlackView::Home(home)).await
    }

    async fn show(&self, method: &str, mut arguments: Value, view: SlackView) -> Result<View, CallError> {
        if let Some(map) = arguments.as_object_mut() {
            map.insert("view".to_owned(), value(&view));
        }
        let answer = self.call(method, &arguments).await?;
        Ok(View::read(answer.get("view").unwrap_or(&Value::Null)))
    }
}
