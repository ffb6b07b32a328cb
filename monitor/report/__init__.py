"""What a week, or any other period, was like for each model: numbers from queries, and texts from numbers."""
