# What Ghost needs in Azure: two identities, their roles on no more than what is named, an account for captures, and a network whose only way out
# is where docs/operations/azure.md says. Never applied so far: no subscription was there to try it.

provider "azurerm" {
  features {}
  # Keys of the account are switched off: the provider, too, comes with its own identity.
  storage_use_azuread = true
}

data "azurerm_subscription" "current" {}

locals {
  # The roles are those of deploy/azure, read from there: one list, held by one test.
  roles  = { for role in ["reader", "actor", "files", "prober"] : role => jsondecode(file("${path.module}/../azure/${role}.json")) }
  people = { reader = azurerm_user_assigned_identity.reader, actor = azurerm_user_assigned_identity.actor }
  # Who gets which role where. The acting identity reads as well.
  grants = merge(
    { for scope in var.read_scopes : "reader reads ${scope}" => { who = "reader", role = "reader", scope = scope } },
    { for scope in setunion(var.read_scopes, var.act_scopes) : "actor reads ${scope}" => { who = "actor", role = "reader", scope = scope } },
    { for scope in var.act_scopes : "actor acts in ${scope}" => { who = "actor", role = "actor", scope = scope } },
    { for scope in var.probe_scopes : "reader probes ${scope}" => { who = "reader", role = "prober", scope = scope } },
  )
}

resource "azurerm_resource_group" "ghost" {
  name     = var.resource_group
  location = var.location
}

# Identities

resource "azurerm_user_assigned_identity" "reader" {
  name                = "${var.name}-reader"
  resource_group_name = azurerm_resource_group.ghost.name
  location            = azurerm_resource_group.ghost.location
}

resource "azurerm_user_assigned_identity" "actor" {
  name                = "${var.name}-actor"
  resource_group_name = azurerm_resource_group.ghost.name
  location            = azurerm_resource_group.ghost.location
}

resource "azurerm_federated_identity_credential" "cluster" {
  for_each  = var.issuer == "" ? {} : local.people
  name      = "cluster"
  parent_id = each.value.id
  issuer    = var.issuer
  subject   = "system:serviceaccount:${var.service_account}"
  audience  = ["api://AzureADTokenExchange"]

  resource_group_name = azurerm_resource_group.ghost.name
}

# Roles

resource "azurerm_role_definition" "ghost" {
  for_each          = local.roles
  name              = "${each.value.Name} (${var.name})"
  description       = each.value.Description
  scope             = data.azurerm_subscription.current.id
  assignable_scopes = [data.azurerm_subscription.current.id]
  permissions {
    actions          = each.value.Actions
    not_actions      = each.value.NotActions
    data_actions     = each.value.DataActions
    not_data_actions = each.value.NotDataActions
  }
}

resource "azurerm_role_assignment" "ghost" {
  for_each           = local.grants
  scope              = each.value.scope
  role_definition_id = azurerm_role_definition.ghost[each.value.role].role_definition_resource_id
  principal_id       = local.people[each.value.who].principal_id
  principal_type     = "ServicePrincipal"
}

# On the account alone, and nothing above it.
resource "azurerm_role_assignment" "files" {
  for_each           = local.people
  scope              = azurerm_storage_account.captures.id
  role_definition_id = azurerm_role_definition.ghost["files"].role_definition_resource_id
  principal_id       = each.value.principal_id
  principal_type     = "ServicePrincipal"
}

resource "azurerm_role_assignment" "captures" {
  scope              = azurerm_storage_account.captures.id
  role_definition_id = azurerm_role_definition.ghost["actor"].role_definition_resource_id
  principal_id       = azurerm_user_assigned_identity.actor.principal_id
  principal_type     = "ServicePrincipal"
}

# Captures

resource "azurerm_storage_account" "captures" {
  name                            = var.storage_account
  resource_group_name             = azurerm_resource_group.ghost.name
  location                        = azurerm_resource_group.ghost.location
  account_kind                    = "StorageV2"
  account_tier                    = "Standard"
  account_replication_type        = "LRS"
  min_tls_version                 = "TLS1_2"
  https_traffic_only_enabled      = true
  shared_access_key_enabled       = false
  allow_nested_items_to_be_public = false
  default_to_oauth_authentication = true
  network_rules {
    default_action = "Deny"
    # Network Watcher writes captures as a service of the platform.
    bypass                     = ["AzureServices"]
    virtual_network_subnet_ids = [azurerm_subnet.bot.id]
  }
}

resource "azurerm_storage_container" "captures" {
  name                  = "captures"
  storage_account_id    = azurerm_storage_account.captures.id
  container_access_type = "private"
}

resource "azurerm_storage_management_policy" "captures" {
  storage_account_id = azurerm_storage_account.captures.id
  rule {
    name    = "delete-captures"
    enabled = true
    filters {
      prefix_match = ["${azurerm_storage_container.captures.name}/"]
      blob_types   = ["blockBlob", "appendBlob"]
    }
    actions {
      base_blob {
        delete_after_days_since_modification_greater_than = var.capture_days
      }
    }
  }
}

# The bot's network

resource "azurerm_virtual_network" "bot" {
  name                = var.name
  resource_group_name = azurerm_resource_group.ghost.name
  location            = azurerm_resource_group.ghost.location
  address_space       = [var.address_space]
}

resource "azurerm_subnet" "bot" {
  name                            = "bot"
  resource_group_name             = azurerm_resource_group.ghost.name
  virtual_network_name            = azurerm_virtual_network.bot.name
  address_prefixes                = [cidrsubnet(var.address_space, 2, 0)]
  service_endpoints               = ["Microsoft.Storage"]
  default_outbound_access_enabled = false
}

resource "azurerm_network_security_group" "bot" {
  name                = var.name
  resource_group_name = azurerm_resource_group.ghost.name
  location            = azurerm_resource_group.ghost.location

  # Slack and the models have no tag of their own: 443 of the Internet. Azure's own interface is part of it.
  security_rule {
    name                       = "out-https"
    priority                   = 100
    direction                  = "Outbound"
    access                     = "Allow"
    protocol                   = "Tcp"
    source_address_prefix      = "*"
    source_port_range          = "*"
    destination_address_prefix = "Internet"
    destination_port_range     = "443"
  }
  security_rule {
    name                       = "out-storage"
    priority                   = 110
    direction                  = "Outbound"
    access                     = "Allow"
    protocol                   = "Tcp"
    source_address_prefix      = "*"
    source_port_range          = "*"
    destination_address_prefix = "Storage"
    destination_port_range     = "443"
  }
  security_rule {
    name                       = "out-nothing-else"
    priority                   = 4000
    direction                  = "Outbound"
    access                     = "Deny"
    protocol                   = "*"
    source_address_prefix      = "*"
    source_port_range          = "*"
    destination_address_prefix = "*"
    destination_port_range     = "*"
  }
  # Socket Mode opens connections; nothing has to come in.
  security_rule {
    name                       = "in-nothing"
    priority                   = 4000
    direction                  = "Inbound"
    access                     = "Deny"
    protocol                   = "*"
    source_address_prefix      = "*"
    source_port_range          = "*"
    destination_address_prefix = "*"
    destination_port_range     = "*"
  }
}

resource "azurerm_subnet_network_security_group_association" "bot" {
  subnet_id                 = azurerm_subnet.bot.id
  network_security_group_id = azurerm_network_security_group.bot.id
}

# One address that the outside sees, and that others can let in.
resource "azurerm_public_ip" "out" {
  name                = "${var.name}-out"
  resource_group_name = azurerm_resource_group.ghost.name
  location            = azurerm_resource_group.ghost.location
  allocation_method   = "Static"
  sku                 = "Standard"
}

resource "azurerm_nat_gateway" "out" {
  name                = var.name
  resource_group_name = azurerm_resource_group.ghost.name
  location            = azurerm_resource_group.ghost.location
  sku_name            = "Standard"
}

resource "azurerm_nat_gateway_public_ip_association" "out" {
  nat_gateway_id       = azurerm_nat_gateway.out.id
  public_ip_address_id = azurerm_public_ip.out.id
}

resource "azurerm_subnet_nat_gateway_association" "out" {
  subnet_id      = azurerm_subnet.bot.id
  nat_gateway_id = azurerm_nat_gateway.out.id
}
