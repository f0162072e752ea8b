"""DFlash Desktop: large language models on Intel graphics, offline, with drafts that pay."""

__version__ = "0.1.0"
