from itertools import islice

import torch

from callbacks import clip_adaptively
from distance import Moments, frechet_distance
from losses import compute_discriminator_loss, compute_generator_loss
from model import build_discriminator, fixed_noise
from pictures import draw_samples

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Fréchet distance between real and generated images, the same for any number of processes.

    There is a generated image for each real one. Its noise depends on the position of the real
    image in the set. gather_for_metrics drops the images that pad the last batch.
    """
    model.eval()
    latent = accelerator.unwrap_model(model).latent
    real, generated = Moments(), Moments()
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        first = real.count + accelerator.process_index * len(images)
        fakes = model(fixed_noise(first, len(images), latent).to(images.device))
        images, fakes = accelerator.gather_for_metrics((images, fakes))
        real.add(images)
        generated.add(fakes)
        #: slot evaluated_batch
    #: slot back_to_training
    return {f"{name}_distance": frechet_distance(real, generated)}

#: slot after_model
discriminator = build_discriminator(config)

#: slot before_prepare
discriminator_optimizer = build_optimizer(discriminator, config)

#: slot after_prepare
discriminator, discriminator_optimizer = accelerator.prepare(discriminator, discriminator_optimizer)

#: slot before_training
train_discriminator_loss = RunningLoss(accelerator)

#: slot setup with schedule
discriminator_schedule = build_schedule(discriminator_optimizer, total_steps, config)

#: slot states with schedule
, "discriminator_schedule": discriminator_schedule

#: slot schedule_step with schedule
#: region discriminator_schedule
discriminator_schedule.step()
#: end discriminator_schedule

#: replace discriminator_schedule when features.schedule.kind=plateau with schedule

#: slot after_evaluation when features.schedule.kind=plateau with schedule
discriminator_schedule.step(metrics[{{ task.metric | python }}])

#: slot states
, "train_discriminator_loss": train_discriminator_loss

#: slot training_mode
discriminator.train()

#: slot forward
fakes = model(torch.randn(len(images), config.latent, device=images.device))
# train the discriminator; the generated images are constants here
discriminator.requires_grad_(True)
discriminator_loss = compute_discriminator_loss(discriminator, images, fakes.detach())
train_discriminator_loss.add(discriminator_loss, len(images))
accelerator.backward(discriminator_loss)
#: region discriminator_clipping
#: end discriminator_clipping
discriminator_optimizer.step()
discriminator_optimizer.zero_grad()
# train the generator; the discriminator is constant here
discriminator.requires_grad_(False)
loss = compute_generator_loss(discriminator, fakes)
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss

#: slot epoch_metrics
metrics["train_discriminator_loss"] = train_discriminator_loss.end_epoch()

#: slot after_evaluation
draw_samples(accelerator, model, config.output_dir / f"samples_{progress.step:08d}.png")

#: slot before_end
del discriminator, discriminator_optimizer

#: replace discriminator_clipping when features.clipping.kind=norm with clipping
if config.max_grad_norm:
    discriminator_grad_norm = accelerator.clip_grad_norm_(
        discriminator.parameters(), config.max_grad_norm
    )

#: slot log_norms when features.clipping.kind=norm with clipping
values["discriminator_grad_norm"] = float(discriminator_grad_norm)

#: replace discriminator_clipping when features.clipping.kind=value with clipping
if config.max_grad_value:
    accelerator.clip_grad_value_(discriminator.parameters(), config.max_grad_value)

#: replace value when features.clipping.kind=value with clipping
if config.max_grad_value:
    accelerator.clip_grad_value_(model.parameters(), config.max_grad_value)

#: replace discriminator_clipping when features.clipping.kind=adaptive with clipping
if config.max_grad_ratio:
    accelerator.unscale_gradients()
    clip_adaptively(discriminator.parameters(), config.max_grad_ratio)

#: replace adaptive when features.clipping.kind=adaptive with clipping
if config.max_grad_ratio:
    accelerator.unscale_gradients()
    clip_adaptively(model.parameters(), config.max_grad_ratio)
