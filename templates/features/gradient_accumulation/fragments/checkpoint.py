#: slot fixed
"gradient_accumulation_steps",
