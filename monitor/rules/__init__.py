"""Rules: their file format, the life of an alert, recording, and the groups that evaluate them."""
