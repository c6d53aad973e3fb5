#: slot fixed
"processes_per_layer": "each holds a part of each layer",
