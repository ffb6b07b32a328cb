"""The transport under the name that the senders to Slack know it by."""

from monitor.notify.transport import Answer, Transport, is_web_address, silent_logger

__all__ = ["Answer", "Transport", "is_web_address", "silent_logger"]
