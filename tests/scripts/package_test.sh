#!/usr/bin/env bash
# The Debian package, unpacked in an empty folder: the program, its manual pages, completion, examples and Python package.
# Skipped where help2man or dpkg-dev is not installed (./run package installs them).
# usage: package_test.sh CMAKE BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
for needed in help2man dpkg-shlibdeps; do
  command -v "$needed" >/dev/null || { echo "skipped: $needed is not installed"; exit 77; }
done
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
/usr/bin/python3 "$3/scripts/manual.py" "$2/corun" "$2/manual" >"$root/log" 2>&1
(cd "$2" && "$(dirname -- "$1")/cpack" -D CPACK_PACKAGE_DIRECTORY="$root/packages") >>"$root/log" 2>&1
package=$(echo "$root"/packages/corun_*.deb)
[[ $(dpkg-deb --field "$package" Depends) == *libhdf5* ]]
dpkg-deb --extract "$package" "$root/tree"
cd "$root/tree/usr"
bin/corun replay share/corun/examples/mine.yaml --set replications=1 --quiet >"$root/table.txt"
grep -q '^oracle' "$root/table.txt"
man -l share/man/man1/corun-replay.1* | tr -s ' \n' ' ' >"$root/page.txt"
grep -q 'corun-replay - compare scheduling policies' "$root/page.txt"
bash -c '. share/bash-completion/completions/corun
  COMP_WORDS=(corun kb sh) COMP_CWORD=2; _corun; [[ ${COMPREPLY[*]} == show ]]'
test -s share/zsh/vendor-completions/_corun -a -s share/fish/vendor_completions.d/corun.fish
test -s share/doc/corun/LICENSE -a -s share/doc/corun/NOTICE
if [[ -d lib/python3/dist-packages/corun ]] && /usr/bin/python3 -c 'import numpy, pandas, h5py' 2>/dev/null; then
  PYTHONPATH=lib/python3/dist-packages /usr/bin/python3 -c 'import corun; assert len(corun.replay(quiet=True, replications=1).runs)'
fi
