#: slot settings when kind=plateau
"schedule_patience": 99,
