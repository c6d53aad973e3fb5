#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss of a whole set. gather_for_metrics drops the images that pad the last batch."""
    model.eval()
    loss_sum = count = 0
    #: slot before_evaluation
    for images, seen in islice(loader, limit or None):
        losses = compute_loss(model(images, seen), images, seen)
        losses = accelerator.gather_for_metrics(losses)
        loss_sum += losses.sum()
        count += len(losses)
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / count
        #: slot evaluated
    }
