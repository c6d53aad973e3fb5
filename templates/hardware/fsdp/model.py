#: slot layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp with chats
self._no_split_modules = {{ task.layers }}  # FSDP gathers one at a time

#: slot layer_classes when fsdp.transformer_layer_cls_to_wrap=empty with fsdp with encoder
self._no_split_modules = {{ task.layers }}  # FSDP gathers one at a time
