#: slot layer_classes
self._no_split_modules = {{ task.layers }}  # FSDP gathers one at a time
