#: when project.task=embeddings|masked_language_model|multiple_choice|question_answering|token_classification
#: slot metadata when model=pretrained
base_model=None if Path(config.pretrained_name).exists() else config.pretrained_name,
