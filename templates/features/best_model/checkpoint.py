import shutil

#: slot kept_files
if (folder.parent / "best.safetensors").exists():
    shutil.copy(folder.parent / "best.safetensors", scratch)

#: slot restored_files
if self.accelerator.is_main_process and (path / "best.safetensors").exists():
    shutil.copy(path / "best.safetensors", self.config.output_dir)
