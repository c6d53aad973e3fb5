from tensor_parallel import as_whole

#: slot cuts
self.heads = heads
self.cuts = {  # in each pair, split the first layer by outputs, the second by inputs
    "blocks.*.query_key_value": "colwise",
    "blocks.*.projection": "rowwise",
    "blocks.*.mlp.0": "colwise",
    "blocks.*.mlp.2": "rowwise",
}

#: replace logits
return F.linear(self.norm(x), as_whole(self.embedding.weight))
