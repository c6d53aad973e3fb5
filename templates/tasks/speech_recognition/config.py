from data import list_letters

#: slot recorded when model=ctc|pretrained with checkpoints
settings["letters"] = list_letters(config)

#: into checkpoint.py
#: slot fixed when model=ctc|pretrained
"letters": "the model has an output for each",

#: into evaluate.py
#: slot same_data when model=ctc|pretrained with checkpoints
check_same("letters", accelerator, run)
