#: when project.task=audio_classification|autoencoder|forecasting|image_classification|object_detection|semantic_segmentation|tabular_classification|tabular_regression dataset=coco|csv|file|files|folder|huggingface|image_folder|parquet|voc|yolo project.loop=complete without stream
from data import describe_data

#: slot start_of_training
if not progress.step:  # a resumed run already logged it
    loaders = train_loader, val_loader, test_loader
    sizes = [f"{len(loader.dataset):,}" for loader in loaders]
    log("samples | training {} | validation {} | test {}".format(*sizes))
    left = len(train_loader.dataset) - len(train_loader) * config.batch_size * accelerator.num_processes
    if left > 0:
        log(f"{left:,} samples of each epoch do not fill a batch: others are left out each time")
    #: slot described

#: slot described when project.task=audio_classification|forecasting|tabular_classification|tabular_regression dataset=csv|file|files|parquet
log(describe_data(config))

#: slot described when project.task=image_classification dataset=csv labels=one|many
log(describe_data(config))
