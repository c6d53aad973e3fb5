from probe import find_new, find_right

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss of a set, and the accuracy of the probes.

    All are the same for any number of processes and any batch size: views are compared within the
    set. gather_for_metrics drops the images that pad the last batch. The known images, whose
    labels the probes use, are not evaluated.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for images, views, labels, known in islice(loader, limit or None):
        values = (project(model, views).float(), model(images).float(), labels, known)
        batches.append(accelerator.gather_for_metrics(values))
        #: slot evaluated_batch
    model.train()
    vectors, features, labels, known = map(torch.cat, zip(*batches, strict=True))
    right = find_right(features, labels, known)
    return {
        f"{name}_loss": float(compare_all(vectors[find_new(known)]).mean()),
        **{f"{name}_{probe}_accuracy": float(found.double().mean()) for probe, found in right.items()}
        #: slot evaluated
    }
