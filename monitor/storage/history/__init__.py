"""What is kept for weeks: samples thinned to a minute, in compressed chunks in the state file."""
