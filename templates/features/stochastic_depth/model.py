import timm

#: replace backbone
try:
    backbone = timm.create_model(
        config.backbone,
        pretrained=config.pretrained,
        num_classes=0,
        drop_path_rate=config.stochastic_depth_rate,
    )
except TypeError as error:
    raise SystemExit(f"{config.backbone} has no residual branches to skip: {error}") from None
