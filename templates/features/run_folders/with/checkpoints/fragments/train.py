from checkpoint import find_resumed
from dataclasses import replace
from run_folders import choose_folder

#: slot after_environment
output_dir = choose_folder(accelerator, config.output_dir, find_resumed(config))
config = replace(config, output_dir=output_dir)
