from teacher import distill, load_teacher

#: slot setup
teacher = load_teacher(accelerator, config)

#: slot after_forward
if teacher is not None:
    with torch.no_grad(), accelerator.autocast():
        soft_targets = {{ task.usage.replace("model(", "teacher(").replace(".argmax(dim=1)", "") }}
    loss = distill(loss, logits, soft_targets.float(), config)
