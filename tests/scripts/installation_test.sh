#!/bin/bash
# An installation in an empty folder: the program runs an installed example, and finds public data sets in
# share/corun/data beside it when neither --data nor CORUN_DATA names them.
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
mkdir -p share/corun/data/lucid
echo 'not it' > share/corun/data/lucid/lucid_solo.csv
bin/corun data > list.txt
grep -q "1 present in $(pwd -P)/share/corun/data, 0 of them as corun was tested with" list.txt
