"""Checks of the rest of a machine: cores, memory, disks, addresses, variables."""

import re
from collections.abc import Iterator

from scaffold.answers.hardware import PRECISION
from scaffold.machine.case import (
    GIB,
    MIB,
    OK,
    PROBLEM,
    WARNING,
    Case,
    Finding,
    plural,
    tell_size,
    tell_variables,
)
from scaffold.machine.change import to_count, update

# what a run needs at least, whatever its model and data
CPU_PROCESS_MEMORY = GIB
GPU_PROCESS_SHARED, WORKER_SHARED = 64 * MIB, 128 * MIB  # in /dev/shm
LEAST_DISK, LITTLE_DISK = 128 * MIB, 2 * GIB

RANKS = ("LOCAL_RANK", "RANK", "LOCAL_WORLD_SIZE", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
CHANGING = re.compile(r"(ACCELERATE|FSDP|PARALLELISM_CONFIG)_\w+")
HARMLESS = ("ACCELERATE_LOG_LEVEL", "ACCELERATE_DEBUG_MODE", "ACCELERATE_ENABLE_RICH")
YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def _cores(case: Case) -> Iterator[Finding]:
    cores = case.machine.cores
    text = f"{plural(cores, 'core')} for {case.tell_processes()}"
    if case.workers:
        text += f" with {plural(case.workers, 'data worker')}"
    if case.trains_on_cpu and case.processes > cores:
        yield Finding(WARNING, "cpu", text, to_count(case, cores))
    elif case.workers > cores:
        change = update({"training.num_workers": cores // case.processes})
        yield Finding(WARNING, "cpu", text, change)
    elif case.trains_on_cpu or case.workers or case.processes > 1:
        yield Finding(OK, "cpu", text)


def _memory(case: Case) -> Iterator[Finding]:
    """Main memory, if weights or optimizer states are in it."""
    free = case.machine.memory
    if free is None or not (case.trains_on_cpu or _offloads(case)):
        return
    text = f"{tell_size(free)} of main memory is free"
    if free < case.processes * CPU_PROCESS_MEMORY:
        text = f"only {text} for {case.tell_processes()}"
        yield Finding(WARNING, "memory", text, "close other programs")
    else:
        yield Finding(OK, "memory", text)


def _offloads(case: Case) -> bool:
    if case.sharding == "deepspeed":
        keys = ("deepspeed.offload_optimizer_device", "deepspeed.offload_param_device")
        return any(case.answers[key] == "cpu" for key in keys)
    return case.sharding == "fsdp" and bool(case.answers["fsdp.offload_params"])


def _shared_memory(case: Case) -> Iterator[Finding]:
    """Workers pass batches through it, and NCCL exchanges data through it."""
    free, need = case.machine.shared, case.workers * WORKER_SHARED
    if case.kind == "MULTI_GPU":
        need += case.processes * GPU_PROCESS_SHARED
    if free is None or not need:
        return
    who = plural(case.workers, "data worker") if case.workers else case.tell_processes()
    text = f"{tell_size(free)} free for {who}"
    if free < need:
        change = f"in a container: docker run --shm-size={-(-need // GIB)}g"
        if case.workers:
            change += f"; or {update({'training.num_workers': 0})}"
        yield Finding(WARNING, "/dev/shm", text, change)
    else:
        yield Finding(OK, "/dev/shm", text)


def _disk(case: Case) -> Iterator[Finding]:
    """Where checkpoints are written."""
    machine = case.machine
    if machine.disk is None:
        return
    text = f"{tell_size(machine.disk)} free for {machine.output}"
    elsewhere = "use another folder: --output-dir FOLDER"
    if not machine.writable:
        yield Finding(PROBLEM, "disk", f"{machine.output} is not writable", elsewhere)
    elif machine.disk < LITTLE_DISK:
        mark = PROBLEM if machine.disk < LEAST_DISK else WARNING
        yield Finding(
            mark, "disk", text, f"{elsewhere}; or {update({'training.keep_checkpoints': 1})}"
        )
    else:
        yield Finding(OK, "disk", text)


def _address(case: Case) -> Iterator[Finding]:
    """Where several machines meet."""
    address = case.machine.address
    if address is None or not case.meets:
        return
    host = case.answers["hardware.main_process_ip"]
    port = case.answers["hardware.main_process_port"]
    change = "scaffold update --set hardware.main_process_ip=ADDRESS"
    if address.state == "unresolved":
        yield Finding(PROBLEM, "address", f"{host} can't be resolved", change)
    elif address.state == "elsewhere":
        yield Finding(OK, "address", f"{host} is another machine: this is not the main one")
    elif address.state == "taken":
        text = f"port {port} of {host} is in use"
        other = update({"hardware.main_process_port": address.free_port})
        yield Finding(PROBLEM, "address", text, f"{other}, on all machines")
    elif not address.loopback:
        text = f"this is the main machine, {host}, and port {port} is free"
        yield Finding(OK, "address", text)
    if address.loopback:
        text = f"{host} is the local address of each machine, so the others can't find the main one"
        yield Finding(WARNING, "address", text, change)


def _environment(case: Case) -> Iterator[Finding]:
    """Environment variables that change what Accelerate does without a trace in the project."""
    variables = case.machine.environment
    same = {
        "ACCELERATE_USE_CPU": YES if case.use_cpu else NO,
        "ACCELERATE_MIXED_PRECISION": (case.answers[PRECISION],),
    }
    changing = {
        name: value
        for name, value in variables.items()
        if CHANGING.fullmatch(name)
        and name not in HARMLESS
        and value.lower() not in same.get(name, ())
    }
    if changing:
        text = f"{tell_variables(changing)}: this changes Accelerate's behavior"
        yield Finding(WARNING, "environment", text, f"unset {' '.join(changing)}")
    left = {name: variables[name] for name in RANKS if name in variables}
    if case.is_script and ("LOCAL_RANK" in left or left.get("WORLD_SIZE", "1") != "1"):
        text = f"{tell_variables(left)}: python train.py would wait for other processes"
        yield Finding(PROBLEM, "environment", text, f"unset {' '.join(left)}")
    refused = variables.get("USE_TORCH_XLA", "").lower() in NO
    if "torch_xla" in case.machine.modules and case.kind != "XLA" and not refused:
        text = "torch_xla is installed, and Accelerate uses it whenever it finds it"
        yield Finding(WARNING, "environment", text, "export USE_TORCH_XLA=false")


def _elsewhere(case: Case) -> Iterator[Finding]:
    """What can't be seen from here."""
    text = "jobs run on other machines: their devices and memory are not checked"
    if case.launcher == "slurm":
        yield Finding(WARNING, "machine", text, "run it inside a job: srun scaffold doctor")
    else:
        yield Finding(WARNING, "machine", f"{text}, nor is the software in their image")


CHECKS = (_cores, _memory, _shared_memory, _disk, _address, _environment)
SHARED_CHECKS = (_disk, _elsewhere)  # if the other machines share this one's disk
AWAY_CHECKS = (_elsewhere,)
