from probe import find_new, find_right

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss of a set, and the accuracy of the probes.

    All are the same for any number of processes. gather_for_metrics drops the images that pad the
    last batch. The known images, whose labels the probes use, are not evaluated.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for images, seen, labels, known in islice(loader, limit or None):
        losses = compute_loss(model(images, seen), images, seen)
        values = (losses, model(images).float(), labels, known)
        batches.append(accelerator.gather_for_metrics(values))
        #: slot evaluated_batch
    model.train()
    losses, features, labels, known = map(torch.cat, zip(*batches, strict=True))
    right = find_right(features, labels, known)
    return {
        f"{name}_loss": float(losses[find_new(known)].mean()),
        **{f"{name}_{probe}_accuracy": float(found.double().mean()) for probe, found in right.items()}
        #: slot evaluated
    }
