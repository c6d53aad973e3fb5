#: slot scaled_rates
group["lr"] *= group["scale"]
