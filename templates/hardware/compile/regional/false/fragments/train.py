from workarounds import release_compiled_model

#: slot after_prepare
model.compile({{ [("backend", hardware.dynamo_backend, "inductor"), ("mode", compile.mode, "default"), ("fullgraph", compile.fullgraph, false), ("dynamic", compile.dynamic, false)] | arguments }})

#: slot before_end
release_compiled_model(model)
