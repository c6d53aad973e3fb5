#: replace accelerator
check_environment(Accelerator(cpu=True))
