"""Semantic segmentation with small pretrained models."""

from collections.abc import Mapping
from pathlib import Path

from scaffold.answers.catalog import Value
from support.rendering import write_project
from support.training import run

TASK = "semantic_segmentation"
# small models with new weights, as they would come from the Hub, trained for other classes
SMALL = """
import sys
import torch
import transformers

segformer = {"hidden_sizes": [8, 8, 16, 16], "depths": [1] * 4, "num_labels": 9}
segformer |= {"num_attention_heads": [1, 1, 2, 2], "decoder_hidden_size": 16}
vit = {"hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2, "patch_size": 8}
vit |= {"intermediate_size": 24, "image_size": 32}
dpt = {**vit, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 8, 16, 16]}
dpt |= {"fusion_hidden_size": 8, "is_hybrid": False}
beit = {**vit, "out_indices": [1, 2, 3, 4], "use_mask_token": True, "auxiliary_channels": 8}
beit |= {"use_relative_position_bias": True, "pool_scales": [1, 2]}
mobilevit = {"image_size": 32, "hidden_sizes": [12, 16, 20], "num_attention_heads": 2}
mobilevit |= {"neck_hidden_sizes": [8, 8, 8, 8, 8, 8, 16], "aspp_out_channels": 8}
swin = {"image_size": 32, "patch_size": 2, "embed_dim": 8, "depths": [1] * 4, "window_size": 2}
swin |= {"num_heads": [1, 1, 2, 2], "out_features": ["stage1", "stage2", "stage3", "stage4"]}
upernet = {"backbone_config": transformers.SwinConfig(**swin), "hidden_size": 8}
upernet |= {"pool_scales": [1, 2], "auxiliary_channels": 8, "auxiliary_in_channels": 32}
name, processor, settings = {
    "segformer": ("SegformerForSemanticSegmentation", "Segformer", segformer),
    "encoder": ("SegformerForImageClassification", "Segformer", segformer),
    "dpt": ("DPTForSemanticSegmentation", "DPT", dpt),
    "beit": ("BeitForSemanticSegmentation", "Beit", beit),
    "mobilevit": ("MobileViTForSemanticSegmentation", "MobileViT", mobilevit),
    "mobilenet": (
        "MobileNetV2ForSemanticSegmentation", "MobileNetV2",
        {"image_size": 32, "depth_multiplier": 0.25},
    ),
    "upernet": ("UperNetForSemanticSegmentation", "Segformer", upernet),
}[sys.argv[1]]
torch.manual_seed(0)
build = getattr(transformers, name)
build(build.config_class(**settings)).save_pretrained("small")
getattr(transformers, f"{processor}ImageProcessor")().save_pretrained("small")
"""
PRETRAINED: dict[str, Value] = {f"{TASK}.model": "transformers", f"{TASK}.pretrained_name": "small"}


def make_pretrained(folder: Path, kind: str, given: Mapping[str, Value] = {}) -> Path:
    """A project, with a small pretrained model in `small`."""
    run(write_project(folder, TASK, **PRETRAINED, **given), "-c", SMALL, kind)
    return folder
