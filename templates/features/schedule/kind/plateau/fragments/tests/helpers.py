#: slot settings
"schedule_patience": 99,
