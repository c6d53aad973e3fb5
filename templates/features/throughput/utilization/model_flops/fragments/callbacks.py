from utilization import peak_flops

#: slot parameters
token_flops: int,

#: slot started
self.token_flops = token_flops
self.peak_flops = peak_flops(accelerator.device)

#: slot measured
if self.peak_flops:
    mfu = speed * self.token_flops / (self.peak_flops * self.processes)
    memory = f"{memory} | MFU {mfu:.1%}"
