#: replace results when launcher=pytorchjob|sagemaker|slurm|trainjob
others += folder.glob("model.safetensors")  # a job that never saved a checkpoint starts over

#: replace host when launcher=pytorchjob|sagemaker|slurm|trainjob
# a job that starts again may get another machine
if host == platform.node() and (pid, start) in running:

#: slot saved_by_all when launcher=pytorchjob|sagemaker|slurm|torchrun|trainjob
if len(list(scratch.glob("random_states_*"))) < self.accelerator.num_processes:
    raise SystemExit(f"{scratch.parent} must be on a disk that all processes share.")
