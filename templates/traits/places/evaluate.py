from train import score

#: slot scored
values = accelerator.gather_for_metrics(score(model(images), targets))
