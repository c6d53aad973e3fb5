from itertools import islice

import torch
from torch import Tensor
from boxes import find_objects
from data import Objects, class_names
from metrics import count_objects, detection_scores, judge
from pictures import draw_boxes

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss of all images, and mean average precision of all detections.

    Detections are compared with the objects of their image on the same process: what is gathered
    has the same shape for each image. gather_for_metrics drops the images that pad the last batch.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for images, targets in islice(loader, limit or None):
        ...  #: slot scored
        #: slot evaluated_batch
    model.train()
    #: region columns
    losses, judged, objects = map(torch.cat, zip(*batches, strict=True))
    #: end columns
    return {
        f"{name}_loss": float(losses.mean()),
        **{f"{name}_{key}": value for key, value in detection_scores(judged, objects).items()},
        #: slot evaluated_masks
        #: slot evaluated
    }


#: region score
...
#: end score

#: slot before_training
shown = [val_loader.dataset[row] for row in range(min(8, len(val_loader.dataset)))]

#: slot after_evaluation
path = config.output_dir / f"boxes_{progress.step:08d}.png"
draw_boxes(accelerator, model, shown, class_names(config), path)
