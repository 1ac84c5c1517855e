variable "name" {
  description = "What the names of everything begin with."
  type        = string
  default     = "ghost"
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,14}[a-z0-9]$", var.name))
    error_message = "Small letters, digits and hyphens, 3 to 16 of them."
  }
}

variable "location" {
  description = "The region of the identities, the account of captures and the network."
  type        = string
}

variable "resource_group" {
  description = "The resource group that everything here lies in; it is made."
  type        = string
  default     = "ghost"
}

variable "read_scopes" {
  description = "Resource groups (their whole ids) that may be looked at. The group of Network Watcher belongs to them."
  type        = set(string)
  validation {
    condition     = length(var.read_scopes) > 0 && alltrue([for id in var.read_scopes : can(regex("^/subscriptions/[0-9a-f-]{36}/resourceGroups/[^/]+$", id))])
    error_message = "Whole ids of resource groups: /subscriptions/ID/resourceGroups/NAME."
  }
}

variable "act_scopes" {
  description = "Resource groups where captures and scripts in guests are allowed at all, after somebody approved each one. The group of Network Watcher belongs to them."
  type        = set(string)
  default     = []
}

variable "probe_scopes" {
  description = "Resource groups in whose machines the reader may run scripts without a click. Azure cannot tell a script that reads from another one: see deploy/azure/README.md."
  type        = set(string)
  default     = []
}

variable "storage_account" {
  description = "The name of the account of captures, unique in all of Azure."
  type        = string
  validation {
    condition     = can(regex("^[a-z0-9]{3,24}$", var.storage_account))
    error_message = "3 to 24 small letters and digits."
  }
}

variable "capture_days" {
  description = "After how many days a capture is deleted, whoever forgot it. As [retention] capture_days."
  type        = number
  default     = 30
}

variable "address_space" {
  description = "The addresses of the bot's own network; it is peered with nothing."
  type        = string
  default     = "10.250.0.0/24"
}

variable "issuer" {
  description = "The address of a cluster's OIDC issuer, for workload identity; empty where the bot runs on a machine of its own."
  type        = string
  default     = ""
}

variable "service_account" {
  description = "The service account of the bot in that cluster, as NAMESPACE:NAME."
  type        = string
  default     = "ghost:ghost"
}
