"""The rules that ship, built from templates and a file of values: thresholds are changed there, not in the rules."""
