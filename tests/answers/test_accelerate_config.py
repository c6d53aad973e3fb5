"""accelerate.yaml against Accelerate's own questionnaire, which is driven with the same answers."""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from scaffold.answers.catalog import Value
from scaffold.answers.check import parse_setting
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import applies, resolve
from support.command_line import Cli
from support.files import write_files
from support.rendering import render

pytestmark = pytest.mark.train  # it imports accelerate

Answers = Mapping[str, Value]
Replies = Mapping[str, str]  # by a part of the question; all others get their default

MACHINE = "Which type of machine"
SEVERAL = "be used for distributed training"
FOUR_GPUS: Answers = {"hardware.distributed_type": "MULTI_GPU", "hardware.num_processes": 4}
FOUR: Replies = {MACHINE: "multi-GPU", SEVERAL: "4"}
SHARDED: Replies = {
    **FOUR,
    "use FullyShardedDataParallel": "yes",
    "RAM efficient": "no",  # our models are built on each process
}
TYPES = {
    "XPU": "multi-XPU", "HPU": "multi-HPU", "NPU": "multi-NPU", "MLU": "multi-MLU",
    "SDAA": "multi-SDAA", "MUSA": "multi-MUSA", "NEURON": "multi-NEURON",
}  # fmt: skip


@dataclass
class Questionnaire:
    """Answers Accelerate's questions, and notes which replies were not asked for."""

    replies: Replies
    used: set[str] = field(default_factory=set)

    def find(self, question: str) -> str | None:
        found = [part for part in self.replies if part in question]
        assert len(found) <= 1, (question, found)
        self.used |= set(found)
        return self.replies[found[0]] if found else None

    def ask_field(self, question: str, convert: Any = None, default: Any = None, **_: Any) -> Any:
        reply = self.find(question)
        if reply is None:
            assert default is not None or convert is None, question
            return default
        return convert(reply) if convert else reply

    def ask_options(
        self, question: str, options: Iterable[Any], convert: Any = None, default: int = 0
    ) -> Any:
        reply = self.find(question)
        texts = [str(option) for option in options]
        index = default if reply is None else texts.index(reply)
        return convert(index) if convert else index


def asked(replies: Replies, where: str = "cluster") -> dict[str, Any]:
    """The configuration that `accelerate config` would write."""
    from accelerate.commands.config import cluster, sagemaker

    module = {"cluster": cluster, "sagemaker": sagemaker}[where]
    questionnaire = Questionnaire(replies)
    patches = {"_ask_field": questionnaire.ask_field, "_ask_options": questionnaire.ask_options}
    for name in vars(module):
        if name.startswith("is_") and name.endswith("_available"):
            there = "deepspeed" in name or "fp8" in name or "torchao" in name
            there = there or "transformer" in name or "msamp" in name
            patches[name] = lambda there=there: there
    with mock.patch.multiple(module, **patches), mock.patch.dict("os.environ"):
        config = getattr(module, f"get_{where}_input")().to_dict()
    assert questionnaire.used == set(replies), "questions that are no longer asked"
    config = dict(yaml.safe_load(yaml.safe_dump(config)))  # where a tuple is a list
    # it makes one empty name of an answer left empty
    return {key: [] if value == [""] else value for key, value in config.items()}


def written(given: Answers, folder: Path) -> dict[str, Any]:
    """What Accelerate reads from the file of a project."""
    from accelerate.commands.config.config_args import load_config_from_file

    project = write_files(folder / "project", render(given))
    return load_config_from_file(str(project / "accelerate.yaml")).to_dict()


# what both are given by these words
COMMON: dict[str, tuple[Answers, Replies]] = {
    "FOUR": (FOUR_GPUS, FOUR),
    "FSDP": ({**FOUR_GPUS, "hardware.sharding": "fsdp"}, SHARDED),
    "DEEPSPEED": (
        {**FOUR_GPUS, "hardware.sharding": "deepspeed"},
        {**FOUR, "use DeepSpeed?": "yes"},
    ),
}


def read_row(text: str) -> tuple[Answers, Replies]:
    """Settings as `--set` takes them, most of them of hardware, and lines with ? of replies."""
    given: dict[str, Value] = {}
    replies: dict[str, str] = {}
    for line in map(str.strip, text.splitlines()):
        if line.startswith("? "):
            replies |= (pair.split(": ") for pair in line.removeprefix("? ").split("; "))
            continue
        for word in shlex.split(line):
            answers, common = COMMON.get(word, ({}, {}))
            given |= answers
            replies |= common
            if not common:
                key = word if "." in word.partition("=")[0] else f"hardware.{word}"
                given |= [parse_setting(load_catalog(), key)]
    return given, replies


TEXT = """
one device
the CPU
  use_cpu=true
  ? CPU only: yes
four GPUs
  FOUR
three of its GPUs
  FOUR num_processes=3 gpu_ids=0,1,3
  ? be used for distributed training: 3; GPU(s) (by id): 0,1,3
NUMA
  FOUR enable_cpu_affinity=true
  ? numa efficiency: yes
debug
  FOUR debug=true
  ? be checked while: yes
TPU
  distributed_type=XLA
  ? Which type of machine: TPU; be used for distributed training: 8
  ? name of the function: start_training
a cluster of TPUs
  distributed_type=XLA tpu.tpu_use_cluster=true tpu.tpu_name=pod tpu.tpu_zone=zone-a
  tpu.commands='pip list' tpu.tpu_env=A=1,B=2
  ? Which type of machine: TPU; be used for distributed training: 8
  ? name of the function: start_training; using a TPU cluster: yes; name of your TPU: pod
  ? zone of your TPU: zone-a; code you wish to run: yes; located in a bash script: no
  ? a single command: pip list; environment variables: A=1,B=2
two machines
  num_machines=2 num_processes=16 machine_rank=1
  main_process_ip=10.0.0.1 main_process_port=29600
  ? Which type of machine: multi-GPU; be used for distributed training: 16
  ? different machines: 2; rank of this machine: 1; IP address: 10.0.0.1; port you will use: 29600
two machines, far apart
  num_machines=2 num_processes=16 main_process_ip=10.0.0.1
  same_network=false rdzv_backend=c10d
  ? Which type of machine: multi-GPU; be used for distributed training: 16
  ? different machines: 2; IP address: 10.0.0.1
  ? port you will use: 29500; same local network: no; rendezvous backend: c10d
mpirun
  distributed_type=MULTI_CPU mpirun_hostfile=/etc/hosts.mpi
  ? Which type of machine: multi-CPU; be used for distributed training: 2
  ? launch mpirun: yes; path to the hostfile: /etc/hosts.mpi
bf16
  mixed_precision=bf16
  ? use mixed precision: bf16
fp16
  mixed_precision=fp16
  ? use mixed precision: fp16
fp8, torchao
  mixed_precision=fp8 fp8.pad_inner_dim=false
  ? use mixed precision: fp8; pad the inner dimension: no
fp8, Transformer Engine
  mixed_precision=fp8 fp8.backend=te fp8.margin=1 fp8.fp8_format=E4M3
  fp8.amax_compute_algorithm=most_recent fp8.higher_wgrad=true
  ? use mixed precision: fp8; FP8 backend: te; What margin: 1; weight format: E4M3
  ? Which algorithm: most_recent; GEMMS in higher: yes; `wgrad` be: yes
fp8, MS-AMP
  mixed_precision=fp8 fp8.backend=msamp fp8.optimization_level=O1
  ? use mixed precision: fp8; FP8 backend: msamp; optimization level: O1
compile, all settings
  dynamo_backend=inductor compile.mode=max-autotune compile.fullgraph=true
  compile.dynamic=true compile.regional=true
  ? torch dynamo: yes; customize the defaults: yes; Which mode: max-autotune
  ? fullgraph: yes; dynamic shape: yes; regional: yes
FSDP 2
  FSDP fsdp.transformer_layer_cls_to_wrap=Block fsdp.activation_checkpointing=true
  ? transformer layer class names: Block; activation checkpointing: yes
FSDP 2, all settings
  FSDP fsdp.reshard_after_forward=false fsdp.auto_wrap_policy=NO_WRAP
  fsdp.state_dict_type=FULL_STATE_DICT
  ? resharding after: no; auto wrap policy: NO_WRAP; state dict type: FULL_STATE_DICT
FSDP 1
  FSDP fsdp.version=1 fsdp.sharding_strategy=HYBRID_SHARD fsdp.offload_params=true
  fsdp.auto_wrap_policy=SIZE_BASED_WRAP fsdp.min_num_params=1000
  fsdp.backward_prefetch=BACKWARD_POST fsdp.forward_prefetch=true fsdp.use_orig_params=true
  fsdp.sync_module_states=false
  ? FSDP version: 1; sharding strategy: HYBRID_SHARD; offload parameters and: yes
  ? auto wrap policy: SIZE_BASED_WRAP; minimum number: 1000; backward prefetch: BACKWARD_POST
  ? state dict type: SHARDED_STATE_DICT; forward prefetch: yes; use_orig_params: yes
  ? individually wrapped: no
copies of shards
  FSDP fsdp.transformer_layer_cls_to_wrap=Block parallelism.enabled=true
  parallelism.dp_replicate_size=2 parallelism.dp_shard_size=2
  ? transformer layer class names: Block; parallelism config: yes; replicate size: 2
  ? FSDP shard size: 2
shared layers
  FSDP fsdp.transformer_layer_cls_to_wrap=Block parallelism.enabled=true
  project.task=language_model parallelism.dp_shard_size=2 parallelism.tp_size=2
  ? transformer layer class names: Block; parallelism config: yes; FSDP shard size: 2
  ? tensor parallelism size: 2
DeepSpeed, stage 3, offloaded
  DEEPSPEED deepspeed.zero_stage=3 deepspeed.offload_optimizer_device=cpu
  deepspeed.offload_param_device=nvme deepspeed.offload_param_nvme_path=/fast
  ? ZeRO optimization stage: 3; Where to offload optimizer: cpu; 16-bit model: yes
  ? Where to offload parameters: nvme; Nvme Path to offload parameters: /fast
DeepSpeed, the optimizer on a disk
  DEEPSPEED deepspeed.offload_optimizer_device=nvme deepspeed.offload_optimizer_nvme_path=/fast
  ? Where to offload optimizer: nvme; Nvme Path to offload optimizer: /fast
DeepSpeed, a file
  DEEPSPEED deepspeed.config_file=zero.json
  ? json file: yes; path to the json: zero.json
DeepSpeed, two machines
  DEEPSPEED num_machines=2 main_process_ip=10.0.0.1 deepspeed.multinode_launcher=pdsh
  deepspeed.hostfile=hosts deepspeed.exclusion_filter=one:0
  ? different machines: 2; IP address: 10.0.0.1; port you will use: 29500
  ? Type of launcher: pdsh; location of hostfile: hosts; specify exclusion: yes
  ? DeepSpeed exclusion: one:0
"""
ROWS = {
    name: read_row(text) for name, text in re.findall(r"^(\S.*)\n((?:  .*\n)*)", TEXT, re.MULTILINE)
}
ROWS |= {
    name: (
        {"hardware.distributed_type": f"MULTI_{name}", "hardware.num_processes": 8},
        {MACHINE: menu, SEVERAL: "8"},
    )
    for name, menu in TYPES.items()
}
for backend in ("inductor", "eager", "aot_eager", "cudagraphs"):
    ROWS[f"compile, {backend}"] = read_row(f"""dynamo_backend={backend}
      ? torch dynamo: yes; Which dynamo backend: {backend}; customize the defaults: yes""")
for strategy in ("allgather", "alltoall"):
    ROWS[f"shared texts, {strategy}"] = read_row(f"""
      FSDP fsdp.transformer_layer_cls_to_wrap=Block parallelism.enabled=true
      project.task=language_model parallelism.dp_shard_size=2 parallelism.cp_size=2
      parallelism.cp_comm_strategy={strategy}
      ? transformer layer class names: Block; parallelism config: yes; FSDP shard size: 2
      ? context parallelism size: 2; communication strategy: {strategy}""")
for stage in (0, 1, 2):
    ROWS[f"DeepSpeed, stage {stage}"] = read_row(f"""DEEPSPEED deepspeed.zero_stage={stage}
      ? ZeRO optimization stage: {stage}""")


@pytest.mark.parametrize("label", ROWS)
def test_it_says_what_the_questionnaire_would(label: str, tmp_path: Path) -> None:
    given, replies = ROWS[label]
    ours, theirs = written(given, tmp_path), asked(replies)
    clipped = theirs.get("deepspeed_config", {})
    if "zero_stage" in clipped:  # the norm that our loop clips by, which theirs does not know
        assert ours["deepspeed_config"].pop("gradient_clipping", None) in (1.0, None)
    assert ours == theirs


def test_several_processes_on_the_cpu_are_really_started(tmp_path: Path) -> None:
    """Accelerate's own file says MULTI_CPU, with which it starts one process without a word."""
    theirs = asked({MACHINE: "multi-CPU", SEVERAL: "2"})
    ours = written({"hardware.distributed_type": "MULTI_CPU"}, tmp_path)
    assert ours.pop("distributed_type") == "MULTI_GPU"
    assert theirs.pop("distributed_type") == "MULTI_CPU"
    assert ours == theirs


def test_each_machine_of_a_tpu_cluster_starts_its_own_cores(tmp_path: Path) -> None:
    """With the flags that train.sh gives it, in spite of tpu_use_cluster in the file."""
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser

    given, _ = ROWS["a cluster of TPUs"]
    project = write_files(tmp_path / "project", render(given))
    script = (project / "train.sh").read_text()
    command = next(line for line in script.splitlines() if "accelerate launch" in line)
    flags = command.partition(" --config_file accelerate.yaml ")[2].partition(" train.py")[0]
    assert flags
    parser, file = launch_command_parser(), str(project / "accelerate.yaml")
    for cluster, words in ((True, []), (False, flags.split())):
        arguments = parser.parse_args(["--config_file", file, *words, "train.py"])
        read, *_ = _validate_launch_command(arguments)
        assert read.tpu and bool(read.tpu_use_cluster) == cluster
        assert read.main_training_function == "start_training"


def test_sagemaker_gets_the_same(tmp_path: Path) -> None:
    answers, replies = read_row("""
      launcher=sagemaker mixed_precision=fp16 sagemaker.iam_role_name=Role
      sagemaker.ec2_instance_type=ml.p3.16xlarge sagemaker.distributed_type=DATA_PARALLEL
      sagemaker.num_machines=2 sagemaker.image_uri=registry/image
      ? authorize: AWS Profile; IAM Role for: Provide IAM Role name; IAM role name: Role
      ? custom Docker: yes; your Docker image: registry/image; distributed mode: Data parallelism
      ? How many machines: 2; FP16 or BF16: fp16""")
    assert written(answers, tmp_path) == asked(replies, "sagemaker")


@pytest.mark.parametrize("label", ROWS)
def test_what_it_writes_is_imported_as_the_same_answers(
    label: str, tmp_path: Path, cli: Cli
) -> None:
    """Accelerate's file, read by `scaffold new --from-accelerate-config`, comes out again."""
    file = tmp_path / "theirs.yaml"
    given, replies = ROWS[label]
    theirs = asked(replies)
    file.write_text(yaml.safe_dump(theirs))
    task = given.get("project.task", "image_classification")
    options = ["--yes", "--set", f"project.task={task}", "--from-accelerate-config", file]
    result = cli("new", tmp_path / "project", *options)
    assert result.code == 0, result.err
    ours = yaml.safe_load((tmp_path / "project/accelerate.yaml").read_text())
    assert {key: value for key, value in ours.items() if value is not None} == theirs


def test_every_key_of_ours_is_one_of_accelerate() -> None:
    """A key that an option names is in Accelerate's files, and all options of hardware have one."""
    from accelerate.commands.config.config_args import ClusterConfig, SageMakerConfig

    catalog = load_catalog()
    known = {*ClusterConfig.__dataclass_fields__, *SageMakerConfig.__dataclass_fields__}
    named = [option for option in catalog.settings.values() if option.accelerate]
    for option in named:
        assert option.accelerate.partition(".")[0] in known, option.key
    rows = [resolve(catalog, {"project.name": "example", **given}) for given, _ in ROWS.values()]
    tried = {
        option.key
        for option in named
        if not option.key.startswith("sagemaker.")
        and any(applies(catalog, option, answers) for answers in rows)
    }
    ours = {option.key for option in named if not option.key.startswith("sagemaker.")}
    assert tried == ours, "settings that no row above has"
