"""Pictures of a signal and its threshold, drawn by a child process: the daemon itself never loads matplotlib."""
