"""Pictures on the screen: small, attached to a message, and in full view."""
