#: slot settings
"keep_checkpoints": 0,
