#: slot fixed
"gradient_accumulation_steps": "it decides the batches",
