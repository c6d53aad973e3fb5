from data import fit_columns

#: slot recorded
settings["columns"] = fit_columns(config).names
