//! What cannot go, because something uses it.

use serde_json::Value;

use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

/// Refuses to remove what is in use.
pub(in crate::azure::arm) fn removable(cloud: &Cloud, target: &Target) -> Result<(), Refusal> {
    let Some(found) = cloud.estate.get(target) else { return Ok(()) };
    let users = |field: &str| -> Vec<String> {
        let list = found.pointer(&format!("/properties/{field}")).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|user| user.get("id")?.as_str().map(str::to_owned)).collect()
    };
    match target.kind().as_str() {
        "networksecuritygroups" => {
            let users = [users("networkInterfaces"), users("subnets")].concat();
            if users.is_empty() {
                return Ok(());
            }
            let message = format!(
                "Network security group {} cannot be deleted because it is in use by the following resources: {}. In order to delete the Network security group, remove the association with the resource(s). To learn how to do this, see aka.ms/deletensg.",
                target.id(),
                users.join(", ")
            );
            Err(Refusal::network(400, "InUseNetworkSecurityGroupCannotBeDeleted", message))
        }
        "routetables" if !users("subnets").is_empty() => {
            let message = format!(
                "Route table {} is in use and cannot be deleted. In order to delete the route table, remove the association with the resource(s). The associated resource(s) are: {}.",
                target.name(),
                users("subnets").join(", ")
            );
            Err(Refusal::network(400, "InUseRouteTableCannotBeDeleted", message))
        }
        "virtualnetworks/subnets" if !users("ipConfigurations").is_empty() => {
            let message = format!(
                "Subnet {} is in use by {} and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet.",
                target.name(),
                users("ipConfigurations").join(", ")
            );
            Err(Refusal::network(400, "InUseSubnetCannotBeDeleted", message))
        }
        _ => Ok(()),
    }
}
