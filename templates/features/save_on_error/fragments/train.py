#: slot before_step
checkpoints.begin_update()

#: slot whole_update
checkpoints.end_update()
