#: with share
#: slot metadata when pretrained_name=given with pretrained
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,

#: slot metadata when clip_name=given with pretrained
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,

#: slot metadata when model_name=given
base_model=None if Path(config.model_name).exists() else config.model_name,

#: slot metadata when dataset_name=given
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,

#: slot metadata when image_dataset=given
datasets=None if Path(config.dataset_name).exists() else config.dataset_name,
