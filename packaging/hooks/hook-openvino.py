"""What PyInstaller cannot see: plugins are opened by name, beside the library (case 96)."""

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs, copy_metadata

_PATTERNS = ["*.dll", "*.so", "*.so.*"]

binaries = collect_dynamic_libs("openvino", search_patterns=_PATTERNS)
datas = collect_data_files("openvino", includes=["libs/*.json", "libs/*.xml"])
datas += copy_metadata("openvino")
