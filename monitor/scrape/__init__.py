"""A target's page: fetched, read, appended at the slot's instant; and the target's health."""
