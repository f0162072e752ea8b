"""The models that can be chosen, and adding one."""
