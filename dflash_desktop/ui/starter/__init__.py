"""Getting the starter model."""
