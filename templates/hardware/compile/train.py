from config import compile_layers
from workarounds import release_compiled_model

#: slot accelerator
dynamo_backend="no",  # compiled below in place, so the weights keep their names

#: slot after_prepare when regional=false
model.compile({{ [("backend", hardware.dynamo_backend, "inductor"), ("mode", compile.mode, "default"), ("fullgraph", compile.fullgraph, false), ("dynamic", compile.dynamic, false)] | arguments }})

#: slot before_end when regional=false
release_compiled_model(model)

#: slot after_prepare when regional=true
compile_layers(model, {{ [("backend", hardware.dynamo_backend, "inductor"), ("mode", compile.mode, "default"), ("fullgraph", compile.fullgraph, false), ("dynamic", compile.dynamic, false)] | arguments }})
