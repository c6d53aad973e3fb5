#: slot functions when model=gpt
def as_whole(weight: Tensor) -> Tensor:
    """A weight that is not sharded, for use outside its module."""
    return weight.to_local() if isinstance(weight, DTensor) else weight
