#: slot fixed
"max_length": "it decides the tokens",
