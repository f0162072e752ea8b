"""What a draft is worth on this machine."""
