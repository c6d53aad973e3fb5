from environment import compile_layers

#: slot after_prepare
compile_layers(model, {{ [("backend", hardware.dynamo_backend, "inductor"), ("mode", compile.mode, "default"), ("fullgraph", compile.fullgraph, false), ("dynamic", compile.dynamic, false)] | arguments }})
