"""Slack: payloads as pure functions, and the two ways to post them: an incoming webhook and a bot."""
