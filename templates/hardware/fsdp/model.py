#: slot layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp with transcribes
self._no_split_modules = {{ task.layers }}  # FSDP gathers one at a time
