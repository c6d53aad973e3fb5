from mixing import mix

#: replace loss
images, others, share = mix(images, labels, config.mixing_alpha, config.mixing_probability)
logits = model(images)
losses = share * F.cross_entropy(
    logits, labels, reduction="none"
    #: slot loss_arguments
)
losses += (1 - share) * F.cross_entropy(
    logits, others, reduction="none"
    #: slot loss_arguments
)
