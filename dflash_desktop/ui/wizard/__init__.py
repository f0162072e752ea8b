"""Setting the program up: what this machine is, which model to take, getting it, using it."""
