from data import describe_data
from lib.images import UnreadableImage

#: slot start_of_training when project.task=audio_classification|autoencoder|forecasting|image_classification|object_detection|semantic_segmentation|tabular_classification|tabular_regression dataset=coco|csv|file|files|folder|huggingface|image_folder|parquet|voc|yolo project.loop=complete without stream
if not progress.step:  # a resumed run already logged it
    loaders = train_loader, val_loader, test_loader
    sizes = [f"{len(loader.dataset):,}" for loader in loaders]
    log("samples | training {} | validation {} | test {}".format(*sizes))
    left = len(train_loader.dataset) - len(train_loader) * config.batch_size * accelerator.num_processes
    if left > 0:
        log(f"{left:,} samples of each epoch do not fill a batch: others are left out each time")
    #: slot described

#: slot described when project.loop=complete project.task=audio_classification|forecasting|tabular_classification|tabular_regression dataset=csv|file|files|parquet without stream
log(describe_data(config))

#: slot described when project.loop=complete project.task=image_classification dataset=csv labels=one|many without stream
log(describe_data(config))

#: wrap start when project.task=autoencoder|diffusion|gan|image_classification|object_detection|self_supervised|semantic_segmentation dataset=image_folder|huggingface|csv|coco|yolo|voc
try:
    ...  #: body
except UnreadableImage as error:  # a data worker puts its traceback above
    raise SystemExit(str(error).rpartition("UnreadableImage: ")[2].strip()) from None
