#!/usr/bin/env bash
{% if launch.machines > 1 %}
# Starts train.py {{ "once" if launch.processes == 1 else launch.processes ~ " times" }} on this machine. Run the same command on each of the {{ launch.machines }} machines:
{% else %}
# Starts train.py{{ "" if launch.processes == 1 else " with " ~ launch.processes ~ " processes" }}:
{% endif %}
#
#     bash train.sh [flags of train.py]
set -euo pipefail
cd "$(dirname "$0")"
{% for name, value in launch.environment.items() %}
export {{ name }}={{ value }}
{% endfor %}

# after a signal, the processes have this many seconds to end
export TORCH_ELASTIC_SHUTDOWN_TIMEOUT={{ torchrun.shutdown_timeout }}

{% if launch.machines > 1 %}
# the main machine assigns the ranks
exec torchrun \
    --nnodes {{ launch.machines }} \
    --nproc-per-node {{ launch.processes }} \
    --rdzv-backend {{ "etcd-v2" if hardware.rdzv_backend == "etcd-v2" else "c10d" }} \
    --rdzv-endpoint {{ hardware.main_process_ip }}:{{ hardware.main_process_port }} \
    --rdzv-id {{ project.name }} \
    train.py "$@"
{% else %}
exec torchrun --standalone --nproc-per-node {{ launch.processes }} train.py "$@"
{% endif %}
