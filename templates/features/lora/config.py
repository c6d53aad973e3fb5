#: slot counted_batch
weights = [weight for weight in model.parameters() if weight.requires_grad]
trained = sum(weight.numel() for weight in weights)

#: slot described
f"{trained:,} trained parameters | "
