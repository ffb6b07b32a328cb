"""What a rule can see of a target: whether its selectors can find anything there, and if not, why."""
