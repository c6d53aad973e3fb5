#: slot fixed
FIXED |= {"cross_validation_folds", "cross_validation_fold"}
