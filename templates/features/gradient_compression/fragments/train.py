from environment import check_compression

#: slot after_environment
check_compression(accelerator, config.gradient_compression)
