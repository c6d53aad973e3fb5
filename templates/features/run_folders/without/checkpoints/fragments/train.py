from dataclasses import replace
from run_folders import choose_folder

#: slot after_environment
config = replace(config, output_dir=choose_folder(accelerator, config.output_dir))
