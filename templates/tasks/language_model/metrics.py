from tensor_parallel import processes_per_layer

#: slot reduced with tensor_parallel
sharing = processes_per_layer(self.accelerator)  # they have the same texts, which count once
total, tokens = total / sharing, tokens / sharing
