#: replace accelerator
check_environment(accelerator := Accelerator(cpu=True))
