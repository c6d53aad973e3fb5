import shutil

from files import replacing

#: slot kept_files
if (folder / "best.safetensors").exists():
    shutil.copy(folder / "best.safetensors", scratch)

#: slot restored_files
if self.accelerator.is_main_process and (path / "best.safetensors").exists():
    with replacing(self.config.output_dir / "best.safetensors") as scratch:
        shutil.copy(path / "best.safetensors", scratch)
