#: slot layer_classes
# each is gathered as a whole
self._no_split_modules = ["TransformerEncoderLayer", "TransformerDecoderLayer"]
