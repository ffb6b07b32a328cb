"""Values that every part shares. Imports nothing of ours."""
