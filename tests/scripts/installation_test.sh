#!/bin/bash
# An installation in an empty folder: the program runs an installed example, and finds public data sets in
# share/corun/data beside it when neither --data nor CORUN_DATA names them. A policy of a project that finds it
# (examples/plugin) runs in the program, and libraries that are none are refused in one line.
# usage: installation_test.sh CMAKE BUILD_FOLDER
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
unset CORUN_DATA
"$1" --install "$2" --prefix "$prefix" > /dev/null
cd "$prefix"
bin/corun replay share/corun/examples/mine.yaml --set replications=1 --quiet > table.txt
grep -q '^oracle' table.txt
test -s share/doc/corun/LICENSE -a -s share/doc/corun/NOTICE

bin/corun data > list.txt
grep -q 'no data directory' list.txt

"$1" -S share/corun/examples/plugin -B plugin -G Ninja -DCMAKE_BUILD_TYPE=Debug -Dcorun_DIR="$prefix/lib/cmake/corun" > log.txt
"$1" --build plugin >> log.txt || { cat log.txt; exit 1; }
export CORUN_POLICIES=plugin/liblongest_first.so
bin/corun list policies | grep -q '^longest-first .*no sharing: longest estimated run time first'
longest=(replay --policies sjf,longest-first --set replications=1 --set cluster.nodes=1 --quiet)
bin/corun "${longest[@]}" --format json > both.json
python3 - both.json <<'CHECK'
import json
import sys
result = json.load(open(sys.argv[1]))
sjf, longest = [policy["metrics"]["jct_s"]["mean"] for policy in result["policies"]]
assert longest > 1.2 * sjf, (sjf, longest)
assert any(text.endswith("liblongest_first.so") for text in result["inputs"]), result["inputs"]
CHECK
refused() { # LIBRARY TEXT
  local code=0
  CORUN_POLICIES=$1 bin/corun replay --quiet 2> error.txt || code=$?
  [[ $code == 2 && $(wc -l < error.txt) == 1 ]] && grep -qF "$2" error.txt || { cat error.txt; exit 1; }
}
refused none.so "CORUN_POLICIES: 'none.so' cannot be loaded, expected a shared library of policies"
refused share/corun/examples/mine.yaml 'cannot be loaded'
echo 'int corun_plugin_abi;' | cc -shared -fPIC -x c -o empty.so -
refused empty.so "has no policies, expected a library with CORUN_POLICY_LIBRARY(...)"
echo 'unsigned long corun_plugin_abi[8]; void corun_plugin_policies(void *p) {}' | cc -shared -fPIC -x c -o old.so -
refused old.so 'was built for another corun or by another compiler; build it again'
refused plugin/liblongest_first.so:./plugin/liblongest_first.so 'expected a name that no other policy has'
unset CORUN_POLICIES
mkdir -p share/corun/data/lucid
echo 'not it' > share/corun/data/lucid/lucid_solo.csv
bin/corun data > list.txt
grep -q "1 present in $(pwd -P)/share/corun/data, 0 of them as corun was tested with" list.txt
