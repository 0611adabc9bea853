#!/bin/sh
# Makes the fonts of the pages and of the formulas: build.sh [STATIC], by default the folder static/ that
# this lies in. Needs node, npm, python3 with venv, and the registries of both. Packages and tools are
# those of package-lock.json and requirements.txt, by their hashes; no script of theirs is run.
set -eu
CDPATH='' cd -- "$(dirname -- "$0")"
here=$(pwd)
static=$(realpath -m -- "${1:-../..}")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cp package.json package-lock.json "$work"
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
cd -- "$work"
npm ci --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error >/dev/null
"$work/tools/bin/python" "$here/build.py" "$work/node_modules" "$static"
# What was made, and from what: tests compare it with what lies there.
{
    cd -- "$here" && sha256sum package.json package-lock.json requirements.txt build.py build.sh
    cd -- "$static/vendor" && sha256sum fonts/*.woff2 fonts/LICENSE.* katex/katex.min.css katex/fonts/*.woff2
} >"$static/vendor/fonts/SHA256SUMS"
