from pathlib import Path

import torch

#: slot classes
class Profiler:
    """Records a few steps: profile_0.json of process 0 is a trace, and profile_0.txt a table."""

    def __init__(self, accelerator, config) -> None:
        self.path = config.output_dir / f"profile_{accelerator.process_index}"
        on_cpu = accelerator.device.type == "cpu"
        self.order = "self_cpu_time_total" if on_cpu else "self_device_time_total"
        wait, warmup, active = config.profiler_wait, config.profiler_warmup, config.profiler_active
        self.left = wait + warmup + active
        schedule = torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=1)
        self.profile = torch.profiler.profile(schedule=schedule, on_trace_ready=self.write)

    def start(self) -> None:
        self.profile.start()

    def step(self) -> None:
        """Call it after each step."""
        if self.left:
            self.left -= 1
            self.profile.step()
            if not self.left:
                self.profile.stop()

    def stop(self) -> None:
        """Write the recorded steps if the run ended early."""
        if self.left:
            self.profile.stop()

    def write(self, profile: torch.profiler.profile) -> None:
        profile.export_chrome_trace(f"{self.path}.json")
        table = profile.key_averages().table(sort_by=self.order, row_limit=20)
        Path(f"{self.path}.txt").write_text(table)
