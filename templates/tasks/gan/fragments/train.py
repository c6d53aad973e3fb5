from itertools import islice

import torch
from distance import Moments, frechet_distance
from losses import loss_of_discriminator, loss_of_generator
from model import build_discriminator, fixed_noise
from pictures import draw_samples

#: slot evaluate_function
@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Fréchet distance between real and generated images, the same for any number of processes.

    An image is generated for each real one, from noise that follows from its index in the set.
    gather_for_metrics cuts off those that only pad the last batches.
    """
    model.eval()
    latent = accelerator.unwrap_model(model).latent
    real, generated = Moments(), Moments()
    #: slot before_evaluation
    for images, _ in islice(loader, limit or None):
        first = real.count + accelerator.process_index * len(images)
        fakes = model(fixed_noise(first, len(images), latent).to(images.device))
        images, fakes = accelerator.gather_for_metrics((images, fakes))
        real.add(images)
        generated.add(fakes)
        #: slot evaluated_batch
    model.train()
    return {f"{name}_distance": frechet_distance(real, generated)}

#: slot after_model
discriminator = build_discriminator(config)

#: slot before_prepare
discriminator_optimizer = build_optimizer(discriminator, config)

#: slot after_prepare
discriminator, discriminator_optimizer = accelerator.prepare(discriminator, discriminator_optimizer)

#: slot setup
discriminator_loss = RunningLoss(accelerator)
checkpoints.states["discriminator_loss"] = discriminator_loss

#: slot forward
images, _ = batch
fakes = model(torch.randn(len(images), config.latent, device=images.device))
# the discriminator's update, to which the generated images are constants
discriminator.requires_grad_(True)
loss = loss_of_discriminator(discriminator, images, fakes.detach())
discriminator_loss.add(loss, len(images))
accelerator.backward(loss)
#: region discriminator_rates when rates
for group in discriminator_optimizer.param_groups:
    ...  #: slot rates
    #: slot scaled_rates
#: end discriminator_rates
#: region discriminator_step
discriminator_optimizer.step()
discriminator.zero_grad()
#: end discriminator_step
# the generator's, to which the weights of the discriminator are constants
discriminator.requires_grad_(False)
loss = loss_of_generator(discriminator, fakes)
train_loss.add(loss, len(images))

#: slot epoch_metrics
metrics["train_discriminator_loss"] = discriminator_loss.end_epoch()

#: slot after_evaluation
draw_samples(accelerator, model, config.output_dir / f"samples_{progress.update:08}.png")

#: slot before_end
del discriminator, discriminator_optimizer
