from workarounds import create_optimizer_state

#: slot setup
if config.resume:
    create_optimizer_state(model, optimizer)
