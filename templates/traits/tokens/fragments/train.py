from metrics import count_tokens, token_losses

#: replace backward
#: region every_token
# backward: every token counts the same, on all processes, whose gradients are averaged
#: end every_token
tokens = accelerator.reduce(count_tokens(targets).sum(), "sum")
accelerator.backward(losses.sum() * accelerator.num_processes / tokens)
