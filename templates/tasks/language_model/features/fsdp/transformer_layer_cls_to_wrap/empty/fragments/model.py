#: slot layer_classes
self._no_split_modules = {{ task.layers }}  # each is gathered as a whole
