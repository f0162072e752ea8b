"""Programs that run in other processes, and the messages they speak."""
