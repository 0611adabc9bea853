#!/bin/sh
# Bundles CodeMirror for the exercise page: build.sh [OUTPUT], by default codemirror.js beside it.
# Needs node, npm and the npm registry. The packages are those of package-lock.json, by their hashes;
# no script of theirs is run. The same sources give the same bytes.
set -eu
CDPATH='' cd -- "$(dirname -- "$0")"
output=$(realpath -m -- "${1:-codemirror.js}")
sources=$(cat package.json package-lock.json entry.js build.sh | sha256sum | cut -d ' ' -f 1)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cp package.json package-lock.json entry.js "$work"
cd -- "$work"
npm ci --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error >/dev/null
node node_modules/esbuild/bin/esbuild entry.js --bundle --format=esm --minify --target=es2022 \
    --charset=utf8 --legal-comments=none --log-level=error --outfile=bundle.js \
    --banner:js="/* CodeMirror 6, MIT licence, see LICENSE. Built by build.sh from sources with sha256 $sources */"
mv -- bundle.js "$output"
