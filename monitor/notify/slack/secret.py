"""The secret under the name that the senders to Slack know it by."""

from monitor.notify.secret import Secret

__all__ = ["Secret"]
