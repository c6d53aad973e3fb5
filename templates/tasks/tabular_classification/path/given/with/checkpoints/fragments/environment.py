from data import fit_columns

#: slot recorded
settings["classes"] = fit_columns(config).classes
