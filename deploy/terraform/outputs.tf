output "configuration" {
  description = "What goes into ghost.toml."
  value       = <<-TOML
    [azure.reader]
    sign_in = "${var.issuer == "" ? "managed" : "service_principal"}"
    client_id = "${azurerm_user_assigned_identity.reader.client_id}"
    subscription = "${data.azurerm_subscription.current.subscription_id}"
    %{~if var.issuer != ""}
    tenant = "${data.azurerm_subscription.current.tenant_id}"
    federated_token_file = "/var/run/secrets/azure/tokens/azure-identity-token"
    %{~endif}

    [azure.actor]
    sign_in = "${var.issuer == "" ? "managed" : "service_principal"}"
    client_id = "${azurerm_user_assigned_identity.actor.client_id}"
    subscription = "${data.azurerm_subscription.current.subscription_id}"
    %{~if var.issuer != ""}
    tenant = "${data.azurerm_subscription.current.tenant_id}"
    federated_token_file = "/var/run/secrets/azure/tokens/azure-identity-token"
    %{~endif}

    [capture]
    storage_account = "${azurerm_storage_account.captures.name}"
    storage_container = "${azurerm_storage_container.captures.name}"
    storage_group = "${azurerm_resource_group.ghost.name}"
  TOML
}

output "identities" {
  description = "The identities to give to the bot's machine."
  value       = { for name, identity in local.people : name => identity.id }
}

output "address" {
  description = "What the outside sees the bot come from."
  value       = azurerm_public_ip.out.ip_address
}

output "subnet" {
  description = "Where the bot's machine goes."
  value       = azurerm_subnet.bot.id
}
