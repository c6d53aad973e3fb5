from data import fit_scale

#: slot recorded
settings["target_scale"] = list(fit_scale(config))
