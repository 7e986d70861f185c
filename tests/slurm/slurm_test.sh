#!/usr/bin/env bash
# A sweep on a real Slurm of two nodes gives the bytes of a local run, though one of its tasks is killed and another
# requeued while they run: in fixed shards (--slurm), and by workers of a store (--launcher slurm).
#
# usage: slurm_test.sh CORUN
#
# Starts munged, slurmctld and slurmd of Debian's packages in a folder of their own, for this user and on
# the loopback address only, and ends them. Exit code 77 where Slurm is not installed or cannot run.
set -euo pipefail

CORUN=$(readlink -f -- "$1")
export PATH=$PATH:/usr/sbin:/sbin

skip() {
  echo "SKIPPED: $*"
  exit 77
}
for tool in slurmctld slurmd sbatch scontrol squeue sinfo munged mungekey; do
  command -v "$tool" >/dev/null || skip "no $tool here; ./run test-slurm installs Slurm and runs this"
done

# Paths of sockets must be short, and munged wants no folder that others can write to.
FOLDER=$(mktemp -d /tmp/corun-slurm-XXXXXX)
STARTED=()
finish() {
  local status=$? pid log
  if [[ -f submitted ]]; then # nothing of a failed test may go on: this Slurm's jobs, nobody else's
    timeout 10 scancel --user="$USER_NAME" 2>/dev/null || true
    wait_for 10 "the queue" queue_is_empty || true
  fi
  for pid in "${STARTED[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${STARTED[@]}"; do
    for _ in {1..50}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
  done
  if ((status != 0 && status != 77)); then
    for log in "$FOLDER"/*.log "$FOLDER"/jobs/*.log; do
      [[ -f $log ]] || continue
      echo "--- ${log##*/}"
      tail -n 25 "$log"
    done
  fi
  rm -rf "$FOLDER"
  exit "$status"
}
trap finish EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

# wait_for SECONDS WHAT COMMAND...: until COMMAND succeeds.
wait_for() {
  local deadline=$((SECONDS + $1))
  shift 2
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

# free_port: one that nobody listens on.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

queue_is_empty() { [[ -z $(timeout 5 squeue -h 2>/dev/null) ]]; }

# ---- a Slurm of two nodes -----------------------------------------------------------------------

cd "$FOLDER"
mkdir munge state spool
chmod 700 munge
USER_NAME=$(id -un)
HOST=$(hostname -s)
mungekey --create --keyfile="$FOLDER/munge/key" >/dev/null
munged --foreground --force --key-file="$FOLDER/munge/key" --socket="$FOLDER/munge/socket" \
  --pid-file="$FOLDER/munge/pid" --log-file="$FOLDER/munge/munged.log" \
  --seed-file="$FOLDER/munge/seed" --num-threads=2 >"$FOLDER/munged.log" 2>&1 &
STARTED+=($!)
wait_for 20 munged test -S "$FOLDER/munge/socket" || skip "munged did not start: $(tail -n 1 munged.log)"

cat >slurm.conf <<CONF
ClusterName=corun
SlurmctldHost=$HOST(127.0.0.1)
SlurmctldPort=$(free_port)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$FOLDER/munge/socket,cred_expire=5
CredType=cred/munge
SlurmUser=$USER_NAME
SlurmdUser=$USER_NAME
StateSaveLocation=$FOLDER/state
SlurmdSpoolDir=$FOLDER/spool/%n
SlurmctldPidFile=$FOLDER/slurmctld.pid
SlurmdPidFile=$FOLDER/slurmd.%n.pid
SlurmctldLogFile=$FOLDER/slurmctld.log
SlurmdLogFile=$FOLDER/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName=one NodeHostname=$HOST NodeAddr=127.0.0.1 Port=$(free_port) CPUs=2 State=UNKNOWN
NodeName=two NodeHostname=$HOST NodeAddr=127.0.0.1 Port=$(free_port) CPUs=2 State=UNKNOWN
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$FOLDER/slurm.conf
slurmctld -D >"$FOLDER/slurmctld.out.log" 2>&1 &
STARTED+=($!)
for node in one two; do
  mkdir "spool/$node"
  slurmd -D -N "$node" >"$FOLDER/slurmd.$node.out.log" 2>&1 &
  STARTED+=($!)
done
nodes_are_idle() { [[ $(timeout 5 sinfo -h -o '%t %D' 2>/dev/null) == "idle 2" ]]; }
wait_for 40 "two idle nodes" nodes_are_idle ||
  skip "Slurm did not start here: $(tail -n 2 slurmctld.log slurmd.*.log 2>/dev/null | tr '\n' ' ')"
echo "Slurm $(sinfo --version | cut -d' ' -f2) is up on $HOST, two nodes"

# ---- the sweep, here and there ------------------------------------------------------------------

cat >sweep.yaml <<'YAML'
policies: [fcfs, random, min-slowdown, exclusive]
workload: {source: jrs-resampled, jobs: 200, load: 1}
replications: 400
sweep:
  grid:
    cluster.nodes: [1, 2, 4, 8]
    workload.load: [0.6, 0.9, 1.2]
YAML
"$CORUN" sweep sweep.yaml --output local.h5 --quiet
"$CORUN" sweep sweep.yaml --slurm jobs --tasks 3 --threads 1 --quiet
jobs/submit.sh >submitted || fail "submit.sh"
read -r _ array _ merge <submitted
echo "submitted array $array and merge $merge"

# pid_of SHARD: the corun of this shard, known by the folder it works in.
pid_of() {
  local process
  for process in /proc/[0-9]*; do
    [[ $(readlink "$process/cwd" 2>/dev/null) == "$FOLDER/jobs" ]] || continue
    [[ $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null) == "$CORUN sweep "*"--shard $1/3 "* ]] || continue
    echo "${process#/proc/}"
    return
  done
  return 1
}
# has_begun SHARD: its journal holds some replications.
has_begun() {
  [[ -f $FOLDER/jobs/shard-$1.journal ]] && (($(stat -c %s "$FOLDER/jobs/shard-$1.journal") > 20000))
}

wait_for 60 "shard 1" has_begun 1 || fail "shard 1 did not begin"
pid=$(pid_of 1) || fail "shard 1 was over before it could be killed: make the sweep longer"
kill -9 "$pid"
echo "killed corun of shard 1 (process $pid) after $(stat -c %s jobs/shard-1.journal) bytes"
wait_for 60 "shard 2" has_begun 2 || fail "shard 2 did not begin"
scontrol requeue "${array}_2" || fail "shard 2 was over before it could be requeued"
echo "requeued shard 2 after $(stat -c %s jobs/shard-2.journal) bytes"

wait_for 180 "the queue" queue_is_empty || fail "the jobs did not end: $(squeue)"
[[ -f jobs/results.h5 ]] || fail "the merge left no results"
grep -q "ended with status 137 in attempt 1" jobs/shard-1.log || fail "shard 1 does not know that it was killed"
restarts=$(scontrol -o show job "${array}_2" 2>/dev/null | sed -n 's/.* Restarts=\([0-9]*\) .*/\1/p')
[[ $restarts == 1 ]] || fail "shard 2 was not requeued (restarts: ${restarts:-unknown})"
cmp local.h5 jobs/results.h5 || fail "the results differ from those of the local run"
echo "shards: $(stat -c %s local.h5) bytes, the same as of the local run"

# ---- workers of a store -------------------------------------------------------------------------

"$CORUN" sweep sweep.yaml --launcher slurm --store store --tasks 4 --threads 1 --output workers.sbatch --quiet
# Small chunks, and claims that lapse soon: the sweep is a short one.
sed -i "s/^exec .*/& --chunk 60 --lapse 2/" workers.sbatch
array=$(sbatch --parsable --output="$FOLDER/worker-%a.log" workers.sbatch) || fail "workers.sbatch"

# worker_pid: of the corun of one worker.
worker_pid() {
  local process
  for process in /proc/[0-9]*; do
    [[ $(tr '\0' ' ' 2>/dev/null <"$process/cmdline") == "$CORUN sweep "*"--worker $FOLDER/store "* ]] || continue
    echo "${process#/proc/}"
    return
  done 2>/dev/null
  return 1
}
has_chunks() { (($(find store -name '*.chunk' 2>/dev/null | wc -l) >= $1)); }
on_two_nodes() { [[ $(squeue -h -t R -o %N | sort -u | tr '\n' ' ') == "one two " ]]; }
wait_for 60 "workers on both nodes" on_two_nodes || fail "the workers are not on both nodes: $(squeue)"
wait_for 60 "chunks" has_chunks 4 || fail "the workers finish no chunks"
pid=$(worker_pid) || fail "the workers were over before one could be killed: make the sweep longer"
kill -9 "$pid"
scontrol requeue "${array}_3" || fail "worker 3 was over before it could be requeued"
echo "killed one worker and requeued another after $(find store -name '*.chunk' | wc -l) chunks"
wait_for 180 "the queue" queue_is_empty || fail "the workers did not end: $(squeue)"
"$CORUN" sweep --status store
"$CORUN" sweep --merge store --output workers.h5 --quiet || fail "the merge of the store"
cmp local.h5 workers.h5 || fail "the results of the workers differ from those of the local run"
echo "PASSED: shards and workers on two nodes give the bytes of the local run"
