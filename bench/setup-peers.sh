#!/bin/sh
# Installs the libraries that attention is compared with into a virtual environment of their own: DIR (default
# build/peers). Nothing of Opsight depends on them; bench/attention_vs_libraries.py uses them. Run again to resume an interrupted installation. PyTorch's wheel brings GPU libraries of some
# gigabytes that its CPU path never uses but cannot be loaded without.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$root/build/peers}
[ -x "$dir/bin/python" ] || python3 -m venv "$dir"
for peer in numpy onnx onnxruntime openvino torch; do
  "$dir/bin/python" -c "import $peer" 2>/dev/null ||
    "$dir/bin/python" -m pip --disable-pip-version-check install --quiet "$peer" ||
    echo "$peer: cannot be installed here"
done
for peer in onnxruntime openvino torch; do
  "$dir/bin/python" -c "import $peer; print('$peer', $peer.__version__)" || echo "$peer: cannot be loaded here"
done
