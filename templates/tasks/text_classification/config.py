from data import class_names, fit_scale

#: slot recorded when labels=number with checkpoints
settings["target_scale"] = list(fit_scale(config))

#: slot recorded when dataset=csv with class_counts with checkpoints
settings["classes"] = class_names(config)
