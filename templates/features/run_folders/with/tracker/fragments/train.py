#: slot after_environment
accelerator.project_configuration.logging_dir = config.output_dir
