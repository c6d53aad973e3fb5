#: slot cuts
text = self.model.config.get_text_config()
self.heads = getattr(text, "num_key_value_heads", text.num_attention_heads)
# how to shard each layer: the plan of the model's authors
self.cuts = {f"model.{name}": cut for name, cut in (self.model.tp_plan or {}).items()}
