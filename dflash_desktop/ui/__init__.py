"""Qt widgets; asks services and shows values."""
