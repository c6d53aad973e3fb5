#: slot saved_by_all
if len(list(scratch.glob("random_states_*"))) < self.accelerator.num_processes:
    raise SystemExit(f"{folder} must be on a disk that all processes share.")
