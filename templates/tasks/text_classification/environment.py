from data import fit_scale

#: slot recorded when labels=number with checkpoints
settings["target_scale"] = list(fit_scale(config))
