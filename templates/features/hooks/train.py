from hooks import Hooks, Run

#: slot setup
hooks = Hooks(Run(accelerator, config, model, optimizer, progress))

#: slot states
, "hooks": hooks

#: slot start_of_training
hooks.call("run_start")

#: slot start_of_epoch
if hooks.stopped:
    break

#: slot before_epoch
hooks.call("epoch_start")

#: slot before_step
hooks.call("step_start")

#: slot after_count
hooks.call("step_end")

#: slot after_log
if hooks.agree():
    #: slot leave_epoch_early
    break

#: slot start_of_evaluation
hooks.call("evaluation_start")

#: slot after_evaluation
hooks.call("evaluation_end", metrics)

#: slot end_of_epoch
hooks.call("epoch_end")
hooks.agree()

#: slot end_of_run
hooks.call("run_end", metrics)

#: slot before_end
hooks.run.model = None  # so that free_memory() frees it
