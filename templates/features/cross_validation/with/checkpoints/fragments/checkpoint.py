#: slot fixed
DATA_SETTINGS += ["cross_validation_folds", "cross_validation_fold"]
