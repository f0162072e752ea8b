"""Its library is opened by name or by place, and its release is read from its papers."""

from PyInstaller.utils.hooks import collect_dynamic_libs, copy_metadata

binaries = collect_dynamic_libs("openvino_tokenizers", search_patterns=["*.dll", "*.so", "*.so.*"])
datas = copy_metadata("openvino-tokenizers")
