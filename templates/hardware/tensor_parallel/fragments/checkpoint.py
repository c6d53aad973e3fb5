from tensor_parallel import processes_per_layer

#: slot facts
facts["processes_per_layer"] = processes_per_layer(self.accelerator)

#: slot facts_now
now["processes_per_layer"] = processes_per_layer(self.accelerator)
