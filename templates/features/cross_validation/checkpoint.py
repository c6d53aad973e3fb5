#: slot fixed
"cross_validation_folds": "it decides the data",
"cross_validation_fold": "it decides the data",
