from workarounds import read_grad_norm

#: slot before_log
grad_norm = read_grad_norm(accelerator, grad_norm)
