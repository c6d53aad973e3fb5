from mixing import blend, mix

#: replace loss
images, others, share = mix(images, labels, config.mixing_alpha, config.mixing_probability)
logits = model(images)
targets = blend(labels, others, share, classes=logits.shape[-1])
loss = compute_loss(
    logits, targets
    #: slot loss_arguments
).mean()
