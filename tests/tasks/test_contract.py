"""The contract of a task: what each must pass, and which tests show it.

A new task adds a record: it is part of all tests that take tasks by their names, and the record
says what shows the rest.
"""

from dataclasses import dataclass

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import AnswerError
from support.rendering import about

CATALOG = load_catalog()

# what all tasks pass, by files: these tests take each task by its name
ALL = {
    "tasks/test_tasks.py": [
        "test_default_project_reaches_its_result[{}-1]",  # on 1 process
        "test_default_project_reaches_its_result[{}-2]",  # on 2 processes
        "test_resumes_on_two_processes[{}]",
        "test_the_whole_proof_of_each_task_holds[{}]",
        "test_the_proof_holds_with_all_features[{}]",
    ],
    "features/test_evaluate_script.py": [
        "test_every_split_is_measured_as_in_training[{}]"  # on 1, 2 and 3 processes
    ],
    "features/test_predict.py": ["test_the_readme_says_how_to_use_it[{}]"],
    "features/test_after_training.py": [
        "test_the_commands_follow_each_other[{}]"  # trains, predicts, exports, shares
    ],
    "features/test_search.py": ["test_the_metric_is_that_of_the_task[{}]"],
}
# the loop is that of image_classification
LOOP = "training/test_equivalence.py::test_same_weights_as_a_bare_loop"
PROOF = "tasks/test_tasks.py::test_the_whole_proof_of_each_task_holds"
FILES = "tasks/test_kinds.py::test_files_are_read_right_or_refused_with_the_place"
TRAINER = "test_ten_steps_are_those_of_the_trainer_of_transformers"
TUNED = "test_a_pretrained_model_is_fine_tuned"
PASSES = "test_a_pretrained_model_passes_the_tests_of_its_project"


@dataclass(frozen=True)
class Record:
    """Tests in a file of the task, or in another one. Empty: it has nothing of the kind."""

    steps: str = LOOP  # it trains as another library does, or as a bare loop
    metrics: str = PROOF  # they are those of another library, or of their definition
    pretrained: str = ""  # a pretrained model is trained further
    files: str = FILES  # a user's files are read, and a wrong row is named
    file: str = ""  # default: the one with the name of the task

    def tests(self, task: str) -> list[str]:
        """The names of all of them, with their files."""
        file = self.file or f"test_{task}.py"
        named = [self.steps, self.metrics, self.pretrained, self.files]
        return [name if "::" in name else f"tasks/{file}::{name}" for name in named if name]


DEFINED = "test_metrics_are_those_of_their_definition_on_any_processes"
TORCHMETRICS = "test_metrics_are_those_of_torchmetrics_on_any_processes"
LABELS = "tasks/test_labels.py::test_metrics_are_those_of_scikit_learn"
ON_PROCESSES = "training/test_training.py::test_evaluation_is_the_same_on_1_2_and_3_processes"
TOGETHER = "tasks/test_vision_and_speech_models.py"
TOGETHER += "::test_a_pretrained_model_goes_with_what_else_one_uses"
FAMILIES = "features/test_lora.py::test_adapters_go_with_other_families"
# what shows the steps, the metrics and a pretrained model
RECORDS = {
    "audio_classification": Record(LOOP, TORCHMETRICS, TUNED, file="test_audio.py"),
    "autoencoder": Record(),
    "diffusion": Record(
        "test_noise_targets_and_steps_are_those_of_diffusers",
        pretrained="test_a_pretrained_model_is_trained_and_used",
    ),
    "dpo": Record("test_losses_are_those_of_trl", DEFINED, PASSES),
    "embeddings": Record(
        "test_ten_steps_are_those_of_sentence_transformers",
        "test_scores_are_those_of_torchmetrics",
        TUNED,
    ),
    "forecasting": Record(LOOP, "test_metrics_are_those_of_utilsforecast_on_any_processes"),
    "gan": Record(PROOF),
    "image_classification": Record(LOOP, ON_PROCESSES, TOGETHER),
    "language_model": Record(LOOP, PROOF, FAMILIES),
    "masked_language_model": Record(
        TRAINER, "test_perplexity_is_that_of_the_whole_set", "test_a_pretrained_model_is_trained"
    ),
    "multiple_choice": Record(TRAINER, "test_accuracy_is_that_of_sklearn", TUNED),
    "object_detection": Record(
        "test_the_loss_of_an_image_is_that_of_transformers",
        "test_metrics_are_those_of_the_coco_tools_on_any_processes",
        "test_a_pretrained_detector_is_fine_tuned",
        file="test_detection.py",
    ),
    "own": Record(files=""),
    "question_answering": Record(TRAINER, "test_scores_are_those_of_squad", TUNED),
    "reward_model": Record("test_ten_steps_are_those_of_trl", DEFINED, PASSES),
    "self_supervised": Record(
        "test_loss_and_gradients_are_those_of_one_process_with_the_whole_batch",
        "test_accuracies_are_those_of_scikit_learn",
        "test_the_choices_pass_the_tests_of_their_projects",
    ),
    "semantic_segmentation": Record(LOOP, TORCHMETRICS, TUNED, file="test_segmentation.py"),
    "seq2seq": Record(
        "test_losses_are_those_of_transformers",
        "test_metrics_are_those_of_the_libraries_on_any_processes",
        "test_a_pretrained_model_trains_predicts_and_is_exported",
    ),
    "sft": Record(
        "test_losses_are_those_of_trl",
        "test_metrics_are_those_of_generated_answers_on_any_processes",
        PASSES,
    ),
    "speech_recognition": Record(
        TRAINER,
        "test_metrics_are_those_of_jiwer_on_any_processes",
        TUNED,
        file="test_speech.py",
    ),
    "tabular_classification": Record(),
    "tabular_regression": Record(),
    "text_classification": Record(LOOP, LABELS, TUNED, file="test_text_and_tables.py"),
    "token_classification": Record(TRAINER, "test_f1_is_that_of_seqeval", TUNED),
}


def test_each_task_has_the_tests_of_the_contract(collected: set[str]) -> None:
    if not any(test.startswith("training/") for test in collected):
        pytest.skip("pytest tests/tasks tests/features tests/training: it looks at all of them")
    for file, tests in ALL.items():
        for test in tests:
            lacking = {f"{file}::{test.format(task)}" for task in CATALOG.tasks} - collected
            assert not lacking
    assert RECORDS.keys() == CATALOG.tasks.keys()
    functions = {test.partition("[")[0] for test in collected}
    for task, record in RECORDS.items():
        assert functions.issuperset(record.tests(task)), task
    read = {test[len(FILES) + 1 : -1].split("-")[0] for test in collected if FILES in test}
    assert read == {task for task, record in RECORDS.items() if record.files}


def test_what_has_a_pretrained_model_is_trained_with_it() -> None:
    names = {"pretrained", "pretrained_name", "model_name"}
    for task, record in RECORDS.items():
        can = names & {option.name for option in CATALOG.tasks[task].options}
        assert bool(can) == bool(record.pretrained), task


DETECTOR: dict[str, Value] = {"model": "transformers", "pretrained_name": "small"}
MIDDLE: dict[str, Value] = {"dataset": "text", "model": "pretrained"}
LORA: dict[str, Value] = {"features.lora.enabled": True}
NUMBERS: dict[str, Value] = {"dataset": "reviews", "labels": "number"}
ZERO_3: dict[str, Value] = {"hardware.sharding": "deepspeed", "deepspeed.zero_stage": 3}
ZERO_3["hardware.distributed_type"] = "MULTI_GPU"
FOLDS, IN_PARTS, CHANGES = (
    f"features.{name}.enabled" for name in ("cross_validation", "find_batch_size", "augmentation")
)
# what goes with a task, what does not beside it, and why
REFUSED: list[tuple[str, dict[str, Value], dict[str, Value], str]] = [
    ("dpo", {IN_PARTS: True}, {"loss": "kto"}, "needs a loss per sample"),
    ("embeddings", {"hardware.sharding": "deepspeed"}, {"dataset": "digits"}, "would undo it"),
    ("language_model", {**MIDDLE, "fill_in_middle": "psm"}, LORA, "tokens are new"),
    ("language_model", {**MIDDLE, "fill_in_middle": "spm"}, LORA, "tokens are new"),
    ("object_detection", {"find": "masks"}, {"dataset": "voc"}, ".xml files have boxes alone"),
    ("object_detection", DETECTOR, {"find": "masks"}, "masks come from small or timm"),
    ("object_detection", ZERO_3, DETECTOR, "from split weights: use stage 2"),
    ("self_supervised", {"method": "mae", CHANGES: True}, {"method": "simclr"}, "SimCLR changes"),
    ("self_supervised", {}, {FOLDS: True}, "would change with the fold"),
    ("self_supervised", {}, {IN_PARTS: True}, "needs a loss per sample"),
    ("text_classification", NUMBERS, {FOLDS: True}, "before it is split into folds"),
]


@pytest.mark.parametrize(("task", "given", "more", "reason"), REFUSED)
def test_what_does_not_go_with_a_task_says_why(
    task: str, given: dict[str, Value], more: dict[str, Value], reason: str
) -> None:
    assert resolve(CATALOG, about(task, **given))
    with pytest.raises(AnswerError, match=reason):
        resolve(CATALOG, about(task, **{**given, **more}))
