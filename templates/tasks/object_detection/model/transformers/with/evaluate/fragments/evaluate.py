#: slot scored
values = accelerator.gather_for_metrics(score(*model(images, targets), targets))
