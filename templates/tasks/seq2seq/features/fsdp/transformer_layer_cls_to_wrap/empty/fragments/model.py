#: slot layer_classes
# FSDP gathers the weights of one such layer at a time
self._no_split_modules = ["TransformerEncoderLayer", "TransformerDecoderLayer"]
