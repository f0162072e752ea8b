"""What is on its way to this disk: how far it is, and what can be done with it."""
