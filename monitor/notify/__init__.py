"""Telling people: payloads are built by pure functions, sent by thin classes, retried in one place."""
