//! The subscriptions that an identity sees, as `az` remembers them from signing in.

use serde_json::{Value, json};

use crate::sign_in::SignInMethod;

/// A subscription that the identity sees.
#[derive(Debug, Clone)]
pub(super) struct Subscription {
    pub(super) id: String,
    pub(super) name: String,
    tenant: String,
    state: String,
    managed_by: Vec<Value>,
}

impl Subscription {
    /// Reads one of the list; nothing of one that has no id.
    pub(super) fn read(document: &Value) -> Option<Self> {
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text("subscriptionId");
        let plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let managed_by = document.get("managedByTenants").and_then(Value::as_array).cloned();
        plain.then(|| Self {
            id,
            name: text("displayName"),
            tenant: text("tenantId"),
            state: text("state"),
            managed_by: managed_by.unwrap_or_default(),
        })
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.state == "Enabled"
    }

    /// Returns what `az` prints of it: of one, or in a list of all.
    pub(super) fn printed(
        &self,
        cloud: &str,
        who: &SignInMethod,
        (is_default, is_listed): (bool, bool),
    ) -> Value {
        let name = if is_listed { "cloudName" } else { "environmentName" };
        json!({
            name: cloud, "homeTenantId": self.tenant, "id": self.id, "isDefault": is_default, "managedByTenants": self.managed_by,
            "name": self.name, "state": self.state, "tenantId": self.tenant, "user": user(who),
        })
    }
}

fn user(who: &SignInMethod) -> Value {
    match who {
        SignInMethod::Managed { client: None } => {
            json!({"assignedIdentityInfo": "MSI", "name": "systemAssignedIdentity", "type": "servicePrincipal"})
        }
        SignInMethod::Managed { client: Some(client) } => {
            json!({"assignedIdentityInfo": format!("MSIClient-{client}"), "name": "userAssignedIdentity", "type": "servicePrincipal"})
        }
        SignInMethod::Principal { client, .. } => json!({"name": client, "type": "servicePrincipal"}),
        SignInMethod::Folder(_) => Value::Null,
    }
}
