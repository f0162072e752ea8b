"""The page that makes pictures out of words, and the gallery of what was made."""
