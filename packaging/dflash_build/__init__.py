"""Makes of a checkout what people double-click: run `packaging/build.py`."""
