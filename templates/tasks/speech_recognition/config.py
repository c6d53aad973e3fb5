from data import list_letters

#: slot recorded when model=ctc|pretrained with checkpoints
settings["letters"] = list_letters(config)
