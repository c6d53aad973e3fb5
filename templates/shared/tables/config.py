#: when project.task=tabular_classification|tabular_regression
from data import fit_columns

#: slot recorded when path=given with checkpoints
settings["columns"] = fit_columns(config).names
