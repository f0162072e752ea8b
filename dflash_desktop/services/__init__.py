"""Asyncio and files; no Qt and no native engine."""
