from callbacks import write_sample

#: slot after_evaluation
#: region sample
if accelerator.is_main_process:
    path = config.output_dir / f"sample_{progress.step:08d}.txt"
    write_sample(accelerator.unwrap_model(model), config, examples, path)
#: end sample
