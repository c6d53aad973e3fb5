"""Semantic segmentation with small pretrained models."""

from pathlib import Path

from scaffold.answers.catalog import Value
from support.training import run_python, succeed

TASK = "semantic_segmentation"
# small models with new weights, as they would come from the Hub, trained for other classes
SMALL = """
import sys
import torch
from transformers import (
    BeitConfig, BeitForSemanticSegmentation, BeitImageProcessor, DPTConfig,
    DPTForSemanticSegmentation, DPTImageProcessor, MobileNetV2Config,
    MobileNetV2ForSemanticSegmentation, MobileNetV2ImageProcessor, MobileViTConfig,
    MobileViTForSemanticSegmentation, MobileViTImageProcessor, SegformerConfig,
    SegformerForImageClassification, SegformerForSemanticSegmentation, SegformerImageProcessor,
    SwinConfig, UperNetConfig, UperNetForSemanticSegmentation,
)

def make_segformer(kind):
    config = SegformerConfig(
        hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2],
        decoder_hidden_size=16, num_labels=9,
    )
    return kind(config), SegformerImageProcessor()

vit = {"hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2, "patch_size": 8}
vit |= {"intermediate_size": 24, "image_size": 32}

def make_dpt():
    config = DPTConfig(
        **vit, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 16, 16],
        fusion_hidden_size=8, is_hybrid=False,
    )
    return DPTForSemanticSegmentation(config), DPTImageProcessor()

def make_beit():
    config = BeitConfig(
        **vit, out_indices=[1, 2, 3, 4], use_mask_token=True, use_relative_position_bias=True,
        auxiliary_channels=8, pool_scales=[1, 2],
    )
    return BeitForSemanticSegmentation(config), BeitImageProcessor()

def make_mobilevit():
    config = MobileViTConfig(
        image_size=32, hidden_sizes=[12, 16, 20], neck_hidden_sizes=[8, 8, 8, 8, 8, 8, 16],
        aspp_out_channels=8, num_attention_heads=2,
    )
    return MobileViTForSemanticSegmentation(config), MobileViTImageProcessor()

def make_mobilenet():
    config = MobileNetV2Config(image_size=32, depth_multiplier=0.25)
    return MobileNetV2ForSemanticSegmentation(config), MobileNetV2ImageProcessor()

def make_upernet():
    swin = SwinConfig(
        image_size=32, patch_size=2, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 2, 2],
        window_size=2, out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    config = UperNetConfig(
        backbone_config=swin, hidden_size=8, pool_scales=[1, 2], auxiliary_channels=8,
        auxiliary_in_channels=32,
    )
    return UperNetForSemanticSegmentation(config), SegformerImageProcessor()

torch.manual_seed(0)
made = {
    "segformer": lambda: make_segformer(SegformerForSemanticSegmentation),
    "encoder": lambda: make_segformer(SegformerForImageClassification),
    "dpt": make_dpt,
    "beit": make_beit,
    "mobilevit": make_mobilevit,
    "mobilenet": make_mobilenet,
    "upernet": make_upernet,
}
for part in made[sys.argv[1]]():
    part.save_pretrained("small")
"""
PRETRAINED: dict[str, Value] = {f"{TASK}.model": "transformers", f"{TASK}.pretrained_name": "small"}


def make_pretrained(project: Path, kind: str) -> Path:
    """The project, with a small pretrained model in `small`."""
    succeed(run_python(project, ["-c", SMALL, kind]))
    return project
