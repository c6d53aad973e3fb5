#: slot settings
"cross_validation_folds": 4,
