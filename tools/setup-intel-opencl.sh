#!/bin/sh
# Puts Intel's OpenCL runtime for processors, from PyPI, into build/intel-opencl, where the card "opencl:intel" looks.
# Usage: tools/setup-intel-opencl.sh [FOLDER WITH WHEELS]
# Wheels that are in the folder are not fetched again. Ends with 0 when the runtime is there, with 4 when it cannot be had.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
target="${OPSIGHT_INTEL_OPENCL:-$root/build/intel-opencl}"
version=2026.2.0

if [ -e "$target/lib/libintelocl.so" ]; then
  echo "Intel's OpenCL runtime is in $target"
  exit 0
fi
partial="$target.partial.$$"
trap 'rm -rf "$partial"' EXIT
mkdir -p "$partial"
wheels=""
[ $# -ge 1 ] && wheels="--find-links $1"
# --target keeps the wheels' shared libraries out of any interpreter; their data/ folders are unpacked beside it.
/usr/bin/python3 -m venv "$partial/venv" >/dev/null 2>&1 || { echo "python3-venv is missing: cannot get Intel's OpenCL runtime" >&2; exit 4; }
# shellcheck disable=SC2086
if ! "$partial/venv/bin/python" -m pip install --quiet --no-deps --disable-pip-version-check $wheels \
  "intel-opencl-rt==$version" "intel-cmplr-lib-rt==$version" "tbb==2023.*"; then
  echo "pip cannot get intel-opencl-rt $version: tests of card opencl:intel will be skipped" >&2
  exit 4
fi
mkdir -p "$partial/lib"
cp -a "$partial/venv/lib/"*.so* "$partial/venv/lib/"*.rtl "$partial/venv/lib/"*.o "$partial/venv/lib/cl.cfg" "$partial/lib/"
rm -f "$partial/lib/libOpenCL.so"* # the system's loader is the one in use
rm -rf "$partial/venv" "$target"
mv "$partial" "$target"
echo "Intel's OpenCL runtime $version is in $target"
