from data import fit_columns

#: slot recorded when path=given with checkpoints
settings["classes"] = fit_columns(config).classes
