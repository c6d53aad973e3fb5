#: slot fixed
"processes_per_text": "it decides the batches",
