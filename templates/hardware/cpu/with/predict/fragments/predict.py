#: replace accelerator
accelerator = Accelerator(cpu=True)
check_environment(accelerator)
