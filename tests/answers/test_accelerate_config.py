"""accelerate.yaml against Accelerate's own questionnaire, which is driven with the same answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import applies, resolve
from support.command_line import Cli, command_line
from support.files import write_files
from support.rendering import render

pytestmark = pytest.mark.train  # it imports accelerate

Answers = Mapping[str, Value]
Replies = Mapping[str, str]  # by a part of the question; all others get their default

MACHINE = "Which type of machine"
SEVERAL = "be used for distributed training"
LAYERS = "transformer layer class names"
FOUR_GPUS: Answers = {"hardware.distributed_type": "MULTI_GPU", "hardware.num_processes": 4}
FOUR: Replies = {MACHINE: "multi-GPU", SEVERAL: "4"}
FSDP: Answers = {**FOUR_GPUS, "hardware.sharding": "fsdp"}
DEEPSPEED: Answers = {**FOUR_GPUS, "hardware.sharding": "deepspeed"}
SPEED: Replies = {**FOUR, "use DeepSpeed?": "yes"}
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

    def ask_field(
        self,
        question: str,
        convert: Callable[[str], Any] | None = None,
        default: Any = None,
        error_message: str | None = None,
    ) -> Any:
        reply = self.find(question)
        if reply is None:
            assert default is not None or convert is None, question
            return default
        return convert(reply) if convert else reply

    def ask_options(
        self,
        question: str,
        options: Sequence[Any],
        convert: Callable[[Any], Any] | None = None,
        default: int = 0,
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


def tables(**changes: Value) -> Answers:
    return {key.replace("__", "."): value for key, value in changes.items()}


ROWS: dict[str, tuple[Answers, Replies]] = {
    "one device": ({}, {}),
    "the CPU": (tables(hardware__use_cpu=True), {"CPU only": "yes"}),
    "four GPUs": (FOUR_GPUS, FOUR),
    "three of its GPUs": (
        {**FOUR_GPUS, **tables(hardware__num_processes=3, hardware__gpu_ids="0,1,3")},
        {MACHINE: "multi-GPU", SEVERAL: "3", "GPU(s) (by id)": "0,1,3"},
    ),
    "NUMA": (
        {**FOUR_GPUS, "hardware.enable_cpu_affinity": True},
        {**FOUR, "numa efficiency": "yes"},
    ),
    "debug": ({**FOUR_GPUS, "hardware.debug": True}, {**FOUR, "be checked while": "yes"}),
    **{
        name: (
            {"hardware.distributed_type": f"MULTI_{name}", "hardware.num_processes": 8},
            {MACHINE: menu, SEVERAL: "8"},
        )
        for name, menu in TYPES.items()
    },
    "TPU": (
        {"hardware.distributed_type": "XLA"},
        {MACHINE: "TPU", SEVERAL: "8", "name of the function": "start_training"},
    ),
    "a cluster of TPUs": (
        tables(
            hardware__distributed_type="XLA",
            tpu__tpu_use_cluster=True,
            tpu__tpu_name="pod",
            tpu__tpu_zone="zone-a",
            tpu__commands="pip list",
            tpu__tpu_env="A=1,B=2",
        ),
        {
            MACHINE: "TPU",
            SEVERAL: "8",
            "name of the function": "start_training",
            "using a TPU cluster": "yes",
            "name of your TPU": "pod",
            "zone of your TPU": "zone-a",
            "code you wish to run": "yes",
            "located in a bash script": "no",
            "a single command": "pip list",
            "environment variables": "A=1,B=2",
        },
    ),
    "two machines": (
        tables(
            hardware__num_machines=2,
            hardware__num_processes=16,
            hardware__machine_rank=1,
            hardware__main_process_ip="10.0.0.1",
            hardware__main_process_port=29600,
        ),
        {
            MACHINE: "multi-GPU",
            SEVERAL: "16",
            "different machines": "2",
            "rank of this machine": "1",
            "IP address": "10.0.0.1",
            "port you will use": "29600",
        },
    ),
    "two machines, far apart": (
        tables(
            hardware__num_machines=2,
            hardware__num_processes=16,
            hardware__main_process_ip="10.0.0.1",
            hardware__same_network=False,
            hardware__rdzv_backend="c10d",
        ),
        {
            MACHINE: "multi-GPU",
            SEVERAL: "16",
            "different machines": "2",
            "IP address": "10.0.0.1",
            "port you will use": "29500",
            "same local network": "no",
            "rendezvous backend": "c10d",
        },
    ),
    "mpirun": (
        tables(hardware__distributed_type="MULTI_CPU", hardware__mpirun_hostfile="/etc/hosts.mpi"),
        {
            MACHINE: "multi-CPU",
            SEVERAL: "2",
            "launch mpirun": "yes",
            "path to the hostfile": "/etc/hosts.mpi",
        },
    ),
    **{
        precision: ({"hardware.mixed_precision": precision}, {"use mixed precision": precision})
        for precision in ("bf16", "fp16")
    },
    "fp8, torchao": (
        tables(hardware__mixed_precision="fp8", fp8__pad_inner_dim=False),
        {"use mixed precision": "fp8", "pad the inner dimension": "no"},
    ),
    "fp8, Transformer Engine": (
        tables(
            hardware__mixed_precision="fp8",
            fp8__backend="te",
            fp8__margin=1,
            fp8__fp8_format="E4M3",
            fp8__amax_compute_algorithm="most_recent",
            fp8__higher_wgrad=True,
        ),
        {
            "use mixed precision": "fp8",
            "FP8 backend": "te",
            "What margin": "1",
            "weight format": "E4M3",
            "Which algorithm": "most_recent",
            "GEMMS in higher": "yes",
            "`wgrad` be": "yes",
        },
    ),
    "fp8, MS-AMP": (
        tables(hardware__mixed_precision="fp8", fp8__backend="msamp", fp8__optimization_level="O1"),
        {"use mixed precision": "fp8", "FP8 backend": "msamp", "optimization level": "O1"},
    ),
    **{
        f"compile, {backend}": (
            {"hardware.dynamo_backend": backend},
            {
                "torch dynamo": "yes",
                "Which dynamo backend": backend,
                "customize the defaults": "yes",
            },
        )
        for backend in ("inductor", "eager", "aot_eager", "cudagraphs")
    },
    "compile, all settings": (
        tables(
            hardware__dynamo_backend="inductor",
            compile__mode="max-autotune",
            compile__fullgraph=True,
            compile__dynamic=True,
            compile__regional=True,
        ),
        {
            "torch dynamo": "yes",
            "customize the defaults": "yes",
            "Which mode": "max-autotune",
            "fullgraph": "yes",
            "dynamic shape": "yes",
            "regional": "yes",
        },
    ),
    "FSDP 2": (
        {
            **FSDP,
            "fsdp.transformer_layer_cls_to_wrap": "Block",
            "fsdp.activation_checkpointing": True,
        },
        {**SHARDED, LAYERS: "Block", "activation checkpointing": "yes"},
    ),
    "FSDP 2, all settings": (
        {
            **FSDP,
            **tables(
                fsdp__reshard_after_forward=False,
                fsdp__auto_wrap_policy="NO_WRAP",
                fsdp__state_dict_type="FULL_STATE_DICT",
            ),
        },
        {
            **SHARDED,
            "resharding after": "no",
            "auto wrap policy": "NO_WRAP",
            "state dict type": "FULL_STATE_DICT",
        },
    ),
    "FSDP 1": (
        {
            **FSDP,
            **tables(
                fsdp__version=1,
                fsdp__sharding_strategy="HYBRID_SHARD",
                fsdp__offload_params=True,
                fsdp__auto_wrap_policy="SIZE_BASED_WRAP",
                fsdp__min_num_params=1000,
                fsdp__backward_prefetch="BACKWARD_POST",
                fsdp__forward_prefetch=True,
                fsdp__use_orig_params=True,
                fsdp__sync_module_states=False,
            ),
        },
        {
            **SHARDED,
            "FSDP version": "1",
            "sharding strategy": "HYBRID_SHARD",
            "offload parameters and": "yes",
            "auto wrap policy": "SIZE_BASED_WRAP",
            "minimum number": "1000",
            "backward prefetch": "BACKWARD_POST",
            "state dict type": "SHARDED_STATE_DICT",
            "forward prefetch": "yes",
            "use_orig_params": "yes",
            "individually wrapped": "no",
        },
    ),
    "copies of shards": (
        {
            **FSDP,
            **tables(
                fsdp__transformer_layer_cls_to_wrap="Block",
                parallelism__enabled=True,
                parallelism__dp_replicate_size=2,
                parallelism__dp_shard_size=2,
            ),
        },
        {
            **SHARDED,
            LAYERS: "Block",
            "parallelism config": "yes",
            "replicate size": "2",
            "FSDP shard size": "2",
        },
    ),
    "shared layers": (
        {
            **FSDP,
            **tables(
                project__task="language_model",
                fsdp__transformer_layer_cls_to_wrap="Block",
                parallelism__enabled=True,
                parallelism__dp_shard_size=2,
                parallelism__tp_size=2,
            ),
        },
        {
            **SHARDED,
            LAYERS: "Block",
            "parallelism config": "yes",
            "FSDP shard size": "2",
            "tensor parallelism size": "2",
        },
    ),
    **{
        f"shared texts, {strategy}": (
            {
                **FSDP,
                **tables(
                    project__task="language_model",
                    fsdp__transformer_layer_cls_to_wrap="Block",
                    parallelism__enabled=True,
                    parallelism__dp_shard_size=2,
                    parallelism__cp_size=2,
                    parallelism__cp_comm_strategy=strategy,
                ),
            },
            {
                **SHARDED,
                LAYERS: "Block",
                "parallelism config": "yes",
                "FSDP shard size": "2",
                "context parallelism size": "2",
                "communication strategy": strategy,
            },
        )
        for strategy in ("allgather", "alltoall")
    },
    **{
        f"DeepSpeed, stage {stage}": (
            {**DEEPSPEED, "deepspeed.zero_stage": stage},
            {**SPEED, "ZeRO optimization stage": str(stage)},
        )
        for stage in (0, 1, 2)
    },
    "DeepSpeed, stage 3, offloaded": (
        {
            **DEEPSPEED,
            **tables(
                deepspeed__zero_stage=3,
                deepspeed__offload_optimizer_device="cpu",
                deepspeed__offload_param_device="nvme",
                deepspeed__offload_param_nvme_path="/fast",
            ),
        },
        {
            **SPEED,
            "ZeRO optimization stage": "3",
            "Where to offload optimizer": "cpu",
            "Where to offload parameters": "nvme",
            "Nvme Path to offload parameters": "/fast",
            "16-bit model": "yes",
        },
    ),
    "DeepSpeed, the optimizer on a disk": (
        {
            **DEEPSPEED,
            **tables(
                deepspeed__offload_optimizer_device="nvme",
                deepspeed__offload_optimizer_nvme_path="/fast",
            ),
        },
        {**SPEED, "Where to offload optimizer": "nvme", "Nvme Path to offload optimizer": "/fast"},
    ),
    "DeepSpeed, a file": (
        {**DEEPSPEED, "deepspeed.config_file": "zero.json"},
        {**SPEED, "json file": "yes", "path to the json": "zero.json"},
    ),
    "DeepSpeed, two machines": (
        {
            **DEEPSPEED,
            **tables(
                hardware__num_machines=2,
                hardware__main_process_ip="10.0.0.1",
                deepspeed__multinode_launcher="pdsh",
                deepspeed__hostfile="hosts",
                deepspeed__exclusion_filter="one:0",
            ),
        },
        {
            **SPEED,
            "different machines": "2",
            "IP address": "10.0.0.1",
            "port you will use": "29500",
            "Type of launcher": "pdsh",
            "location of hostfile": "hosts",
            "specify exclusion": "yes",
            "DeepSpeed exclusion": "one:0",
        },
    ),
}


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
    answers = tables(
        hardware__launcher="sagemaker",
        hardware__mixed_precision="fp16",
        sagemaker__iam_role_name="Role",
        sagemaker__ec2_instance_type="ml.p3.16xlarge",
        sagemaker__distributed_type="DATA_PARALLEL",
        sagemaker__num_machines=2,
        sagemaker__image_uri="registry/image",
    )
    replies = {
        "authorize": "AWS Profile",
        "IAM Role for": "Provide IAM Role name",
        "IAM role name": "Role",
        "custom Docker": "yes",
        "your Docker image": "registry/image",
        "distributed mode": "Data parallelism",
        "How many machines": "2",
        "FP16 or BF16": "fp16",
    }
    assert written(answers, tmp_path) == asked(replies, "sagemaker")


@pytest.mark.parametrize("label", ROWS)
def test_what_it_writes_is_imported_as_the_same_answers(
    label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Accelerate's file, read by `scaffold new --from-accelerate-config`, comes out again."""
    cli: Cli = command_line(monkeypatch, capsys)
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


def test_every_key_of_ours_is_one_of_accelerate(tmp_path: Path) -> None:
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
