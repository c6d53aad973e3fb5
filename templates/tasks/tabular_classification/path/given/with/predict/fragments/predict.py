#: slot before_batches
names = Columns.load(config.output_dir).classes
