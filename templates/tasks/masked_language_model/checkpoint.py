#: slot fixed
"max_length": "it decides the tokens",
"mask_rate": "it decides the masked tokens",
"whole_words": "it decides the masked tokens",
