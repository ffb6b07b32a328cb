"""Where samples live: the window in memory, and what outlives the process in SQLite."""
