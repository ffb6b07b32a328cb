"""Unit tests of rules, in promtool's format: what a file says, how a test runs, and how the outcome is compared."""
