from context_parallel import processes_per_text

#: slot facts
facts["processes_per_text"] = processes_per_text(self.accelerator)

#: slot facts_now
now["processes_per_text"] = processes_per_text(self.accelerator)
