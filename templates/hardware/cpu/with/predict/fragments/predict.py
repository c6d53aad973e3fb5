#: replace accelerator
accelerator = Accelerator(cpu=True)
