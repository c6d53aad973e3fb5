#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss of a whole set, whose views are compared with each other.

    It is the same for any number of processes and any batch size. gather_for_metrics drops the
    images that pad the last batch.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for _, views in islice(loader, limit or None):
        batches.append(accelerator.gather_for_metrics(project(model, views).float()))
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(compare_all(torch.cat(batches)).mean())
        #: slot evaluated
    }
