from callbacks import Profiler

#: slot setup
profiler = Profiler(accelerator, config)

#: slot start_of_training
profiler.start()

#: slot after_count
profiler.step()

#: slot end_of_run
profiler.stop()
