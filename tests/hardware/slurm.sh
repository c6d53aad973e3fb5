#!/usr/bin/env bash
# A SLURM cluster of two machines on this one, for tests, as root, until it is terminated:
#
#     apt-get install slurm-wlm
#     bash tests/hardware/slurm.sh FOLDER
#     SLURM_CONF=FOLDER/slurm.conf sinfo
#
# Jobs of the partition `urgent` take the place of others, which then have 30 seconds to save.
set -euo pipefail
folder=$(realpath -m "$1")
host=$(hostname -s)
mkdir -p "$folder"
cat > "$folder/slurm.conf" << END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=2,sched_min_interval=100000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=10
MpiDefault=none
ReturnToService=2
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[16818-16819] CPUs=2 State=UNKNOWN
PartitionName=usual Nodes=n[1-2] Default=YES MaxTime=INFINITE PriorityTier=1 PreemptMode=REQUEUE GraceTime=30
PartitionName=urgent Nodes=n[1-2] MaxTime=INFINITE PriorityTier=2 PreemptMode=OFF
END
mkdir -p "$folder/state" "$folder/n1" "$folder/n2"
export SLURM_CONF=$folder/slurm.conf
trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
trap exit TERM INT
slurmctld -D &
slurmd -D -N n1 &
slurmd -D -N n2 &
wait -n  # none of them should end
