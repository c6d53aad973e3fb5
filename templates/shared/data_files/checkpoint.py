#: when project.task=audio_classification|image_classification|tabular_classification|tabular_regression|text_classification
#: slot fixed when dataset=csv|files|huggingface|image_folder|parquet
"val_share": "it decides what is held out",
"test_share": "it decides what is held out",
