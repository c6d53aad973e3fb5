#: slot after_prepare
model.compile({{ [("backend", hardware.dynamo_backend, "inductor"), ("mode", compile.mode, "default"), ("fullgraph", compile.fullgraph, false), ("dynamic", compile.dynamic, false)] | arguments }})

#: slot before_end
model._compiled_call_impl = None  # the compiled model refers to itself, and would not go
