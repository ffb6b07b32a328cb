"""From alerts to notifications: who is told, in which group, and whether it is news. In Alertmanager's words."""
