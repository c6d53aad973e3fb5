#: file when tpu_use_cluster=true
#!/usr/bin/env bash
# Starts train.py on all machines of the TPU cluster. Run it where gcloud is logged in:
#
#     bash train.sh [flags of train.py]
#
# Each machine needs this folder at the same path, with the dependencies of train.py installed. Each
# starts its own TPU cores, because Accelerate 1.15 starts them with a module that torch_xla no longer has.
set -euo pipefail
cd "$(dirname "$0")"

steps="cd $(printf %q "$PWD")"
{% if tpu.command_file %}
steps+=" && bash "{{ tpu.command_file | shell | shell }}
{% endif %}
{% for command in launch.config.get("commands", []) %}
steps+=" && "{{ command | shell }}
{% endfor %}
{% for row in launch.config.tpu_env %}
steps+=" && export "{{ row | shell | shell }}
{% endfor %}
{% if tpu.tpu_use_sudo %}
steps+=' && sudo --preserve-env env "PATH=$PATH"'
{% else %}
steps+=" &&"
{% endif %}
steps+=" accelerate launch --config_file accelerate.yaml --tpu --no_tpu_cluster train.py ${*@Q}"

exec gcloud compute tpus tpu-vm ssh {{ (tpu.tpu_name | shell) if tpu.tpu_name else '"${TPU_NAME:?is the name of the cluster}"' }} \
{% if tpu.tpu_zone %}
    --zone {{ tpu.tpu_zone | shell }} \
{% endif %}
    --worker all --command "$steps"
