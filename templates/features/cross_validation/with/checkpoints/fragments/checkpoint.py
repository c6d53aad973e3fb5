#: slot fixed
FIXED |= {"cross_validation_folds": None, "cross_validation_fold": None}
