#: when project.task=sft|dpo
from callbacks import write_sample

#: slot after_evaluation
#: region sample
if accelerator.is_main_process:
    path = config.output_dir / f"sample_{progress.step:08d}.txt"
    write_sample(accelerator.unwrap_model(model), config, examples, path)
#: end sample

#: replace sample with deepspeed
# run on all processes: each one holds a shard of the weights
path = config.output_dir / f"sample_{progress.step:08d}.txt"
write_sample(model, config, examples, path)

#: replace sample with fsdp
# run on all processes: each one holds a shard of the weights
path = config.output_dir / f"sample_{progress.step:08d}.txt"
write_sample(model, config, examples, path)
