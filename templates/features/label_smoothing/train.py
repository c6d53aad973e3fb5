#: replace compute_loss
def compute_loss(logits: Tensor, labels: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """The loss of each sample, shape (batch,). Evaluation does not smooth the labels."""
    return F.cross_entropy(logits, labels, reduction="none", label_smoothing=label_smoothing)

#: slot loss_arguments
, label_smoothing=config.label_smoothing
