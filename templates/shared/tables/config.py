#: when project.task=tabular_classification|tabular_regression
from data import fit_columns

#: slot recorded when path=given with checkpoints
settings["columns"] = fit_columns(config).names

#: into checkpoint.py
#: slot fixed when path=given
"columns": "the model has an input for each",

#: into evaluate.py
#: slot same_data when path=given with checkpoints
check_same("columns", accelerator, run)
