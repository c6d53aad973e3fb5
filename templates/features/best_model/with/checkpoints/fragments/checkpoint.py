import shutil

from files import link, replacing

#: slot kept_files
if (folder / "best.safetensors").exists():
    link(folder / "best.safetensors", scratch / "best.safetensors")

#: slot restored_files
if self.accelerator.is_main_process and (path / "best.safetensors").exists():
    with replacing(self.config.output_dir / "best.safetensors") as scratch:
        shutil.copy(path / "best.safetensors", scratch)
