#!/usr/bin/env bash
# Installs the packages of ./run package in bare Debian 12 systems and tries what they promise. The systems are folders that
# mmdebstrap makes from the distribution's packages (network, root); they are removed at the end.
# usage: bare_root.sh PACKAGES_FOLDER
set -euo pipefail
packages=$1
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
((EUID == 0)) || { echo "bare_root: chroot needs root" >&2; exit 1; }
base=$(mktemp -d /var/tmp/corun-bare.XXXXXX)
mounted=()
finish() {
  local folder
  for folder in ${mounted[@]+"${mounted[@]}"}; do umount "$folder" || true; done
  rm -rf --one-file-system "$base"
}
trap finish EXIT

# new_root NAME PACKAGE...: a bare system; ROOT is its folder.
new_root() {
  ROOT=$base/$1
  shift
  local include=()
  (($# == 0)) || include=("--include=$(IFS=,; echo "$*")")
  echo "==> a bare Debian 12: ${*:-nothing more}"
  mmdebstrap --quiet --variant=minbase "${include[@]}" bookworm "$ROOT"
  mount --bind /dev "$ROOT/dev" && mounted=("$ROOT/dev" ${mounted[@]+"${mounted[@]}"})
  mount -t proc proc "$ROOT/proc" && mounted=("$ROOT/proc" ${mounted[@]+"${mounted[@]}"})
  cp /etc/resolv.conf "$ROOT/etc/resolv.conf"
  [[ ! -e /etc/hosts ]] || cp /etc/hosts "$ROOT/etc/hosts"
  local settings
  for settings in /etc/apt/apt.conf.d/*; do # proxies
    ! grep -qi proxy "$settings" 2>/dev/null || cp "$settings" "$ROOT/etc/apt/apt.conf.d/"
  done
  mkdir -p "$ROOT/tmp/packages"
  cp "$packages"/corun* "$ROOT/tmp/packages/"
}
in_root() { DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$ROOT" bash -euo pipefail -c "$1"; }
step() { printf '==> %s\n' "$1"; }

# ---- the Debian package -----------------------------------------------------------------------------------------------
new_root deb man-db bash-completion
# The files of a system that purging must give back. dpkg keeps lists of all packages that it has ever seen.
files_of() {
  (cd "$ROOT" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./var/cache -o -path ./var/lib/dpkg \
    -o -path ./var/lib/apt -o -path ./var/log \) -prune -o -iname '*corun*' -print | sort)
}
step "apt install"
in_root 'apt-get update -qq && apt-get install -qq --yes --no-install-recommends /tmp/packages/corun_*.deb >/dev/null'
step "corun replay, from the examples of the package"
in_root 'cd /tmp && corun replay /usr/share/corun/examples/mine.yaml --set replications=1 --quiet >table.txt && grep -q ^oracle table.txt'
step "man corun, man corun-replay"
in_root 'man corun | grep -q "which jobs should share a GPU" && man corun-replay | grep -q "^NAME"'
step "completion of bash"
in_root '. /usr/share/bash-completion/bash_completion && . /usr/share/bash-completion/completions/corun &&
  COMP_WORDS=(corun re) COMP_CWORD=1 && _corun && [[ " ${COMPREPLY[*]} " == *" replay "* && " ${COMPREPLY[*]} " == *" recommend "* ]]'
step "import corun"
in_root 'apt-get install -qq --yes --no-install-recommends python3 python3-numpy python3-pandas python3-h5py >/dev/null
  cd / && python3 -c "import corun; print(len(corun.replay(quiet=True, replications=1).runs), \"rows\")"'
step "a policy of a downstream project: find_package(corun)"
in_root 'apt-get install -qq --yes --no-install-recommends g++ cmake ninja-build >/dev/null
  cmake -S /usr/share/corun/examples/plugin -B /tmp/plugin -G Ninja >/dev/null && cmake --build /tmp/plugin >/dev/null
  cd /tmp && CORUN_POLICIES=/tmp/plugin/liblongest_first.so corun replay --policies fifo,longest-first --set replications=1 --quiet |
    grep ^longest-first'
step "purge leaves nothing"
in_root 'apt-get purge -qq --yes corun >/dev/null'
left=$(files_of)
[[ -z $left ]] || { printf 'purge left:\n%s\n' "$left"; exit 1; }

# ---- the wheel, without root ------------------------------------------------------------------------------------------
# Debian has the Python packages that corun needs, of which pip does not know h5py by its name: nothing is fetched from
# elsewhere.
new_root wheel python3 python3-venv python3-numpy python3-pandas python3-h5py python3-matplotlib
step "pip install, as a user without root"
in_root 'useradd --create-home user && su user -c "python3 -m venv --system-site-packages /tmp/venv && /tmp/venv/bin/pip install --quiet --no-index --no-deps /tmp/packages/corun-*.whl"'
step "corun and import corun"
in_root 'su user -c "cd /tmp && /tmp/venv/bin/corun replay --policies fcfs --set replications=1 --quiet" | grep ^fcfs
  su user -c "cd /tmp && /tmp/venv/bin/python3 -c \"import corun; print(len(corun.replay(quiet=True, replications=1).runs), \\\"rows\\\")\""'

# ---- the steps of the Apptainer recipe ----------------------------------------------------------------------------------
section() { awk -v name="%$1" '$0 == name { on = 1; next } /^%/ { on = 0 } on' "$here/corun.def"; }
new_root apptainer
step "%files, %post and %test of corun.def"
cp "$packages"/corun_*.deb "$ROOT/tmp/"
in_root "$(section post)" >/dev/null 2>&1
in_root "cd /tmp; $(section test)" | grep ^fcfs
echo "==> all packages do what they promise"
