from dataclasses import replace

from checkpoint import find_resumed
from run_folders import choose_folder

#: replace output_dir
output_dir: Path = Path("runs/{time}")  # folder for metrics, weights and checkpoints

#: slot after_environment with checkpoints
output_dir = choose_folder(accelerator, config.output_dir, find_resumed(config))
config = replace(config, output_dir=output_dir)

#: slot after_environment with tracker
accelerator.project_configuration.logging_dir = config.output_dir

#: slot after_environment without checkpoints
config = replace(config, output_dir=choose_folder(accelerator, config.output_dir))
