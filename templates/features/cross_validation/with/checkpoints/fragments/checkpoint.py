#: slot fixed
DATA_SETTINGS |= {"cross_validation_folds": None, "cross_validation_fold": None}
