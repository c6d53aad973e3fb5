from data import class_names, fit_scale

#: slot recorded when labels=number with checkpoints
settings["target_scale"] = list(fit_scale(config))

#: slot recorded when dataset=csv with class_counts with checkpoints
settings["classes"] = class_names(config)

#: into checkpoint.py
#: slot fixed when labels=number
"target_scale": "the model predicts in it",

#: slot fixed when dataset=csv with class_counts
"classes": "the model has an output for each",

#: into evaluate.py
#: slot same_data when labels=number with checkpoints
check_same("target_scale", accelerator, run)

#: slot same_data when dataset=csv with class_counts with checkpoints
check_same("classes", accelerator, run)
