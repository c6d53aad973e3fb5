from data import fit_columns

#: slot recorded when path=given with checkpoints
settings["classes"] = fit_columns(config).classes

#: into checkpoint.py
#: slot fixed when path=given
"classes": "the model has an output for each",

#: into evaluate.py
#: slot same_data when path=given with checkpoints
check_same("classes", accelerator, run)
