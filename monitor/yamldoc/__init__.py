"""YAML in which every key and value knows its line, and a schema says what it means; all mistakes are told at once."""
