#: slot fixed
"max_length": "it decides the tokens",
"overlap": "it decides the batches",
