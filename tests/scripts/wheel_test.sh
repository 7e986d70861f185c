#!/usr/bin/env bash
# The wheel, installed into an empty folder: the command corun and `import corun` run, and take from the system only the C
# and C++ libraries. The archive of the sources has what pip builds from.
# Skipped where patchelf, pip or git is not installed (./run package installs them).
# usage: wheel_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
for needed in patchelf git; do
  command -v "$needed" >/dev/null || { echo "skipped: $needed is not installed"; exit 77; }
done
/usr/bin/python3 -c 'import setuptools, wheel, pip' 2>/dev/null || { echo "skipped: pip, wheel or setuptools is not installed"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
wheel=$(/usr/bin/python3 "$2/scripts/wheel.py" "$1" "$root")
[[ $wheel == "$root"/corun-*-manylinux_*.whl ]]
export PIP_BREAK_SYSTEM_PACKAGES=1
/usr/bin/python3 -m pip install --quiet --no-index --no-deps --no-warn-script-location --prefix "$root/here" "$wheel"
packages=$(dirname -- "$(find "$root/here" -type d -name corun.libs)")
for file in "$packages"/corun/bin/corun "$packages"/corun/_corun*.so; do
  ! ldd "$file" | grep 'not found'
  ldd "$file" | grep ' => ' | grep -v "$packages" | awk '{ print $1 }' |
    grep -vE '^(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so' && { echo "not in the wheel"; exit 1; }
done
ls "$packages"/corun.libs/*.copyright >/dev/null
cd "$root"
export PYTHONPATH=$packages
here/bin/corun replay --policies fcfs --set replications=1 --quiet 2>/dev/null >table.txt ||
  here/local/bin/corun replay --policies fcfs --set replications=1 --quiet >table.txt
grep -q '^fcfs' table.txt
if /usr/bin/python3 -c 'import numpy, pandas, h5py' 2>/dev/null; then
  /usr/bin/python3 -c 'import corun; assert len(corun.replay(quiet=True, replications=1, policies=["fcfs"]).runs)'
fi
[[ -e $2/.git ]] || exit 0
sources=$(/usr/bin/python3 "$2/scripts/wheel.py" --sources "$root")
tar --list --file "$sources" >names.txt
for file in PKG-INFO CMakeLists.txt setup.py sim/time.hpp python/corun/program.py cmake/install.cmake; do
  grep -qE "^corun-[0-9.]+/$file\$" names.txt
done
