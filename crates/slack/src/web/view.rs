//! Modals.

use serde_json::{Value, json};

use crate::arrive::View;
use crate::block::{SlackModalView, SlackView};
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
        let view = value(&SlackView::Modal(modal));
        let answer = self.call("views.open", &json!({"trigger_id": trigger, "view": view})).await?;
        Ok(View::read(answer.get("view").unwrap_or(&Value::Null)))
    }
}
