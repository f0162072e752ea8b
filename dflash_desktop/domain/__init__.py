"""Values and pure rules; only the standard library."""
