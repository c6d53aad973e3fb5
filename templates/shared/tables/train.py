#: when project.task=tabular_classification|tabular_regression
from data import fit_columns

#: slot start_of_training when path=given
if accelerator.is_main_process:
    fit_columns(config).save(config.output_dir)
