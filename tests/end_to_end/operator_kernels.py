#!/usr/bin/python3
"""The tile kernels of kernels/ beside attention, each under every combination of its operator's options. Only accuracy and
checks: speed is the bench's. $OPSIGHT is the tool."""
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

OPSIGHT = os.environ.get("OPSIGHT", "opsight")
KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"


class OperatorKernels(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="opsight-kernels-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def opsight(self, *arguments):
        return subprocess.run([OPSIGHT, *arguments], cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=240)

    def passes_under_every_option(self, name):
        source = next(KERNELS.glob(f"*/{name}_simd.cu"))
        text = source.with_suffix(".toml").read_text().replace(f'"{source.name}"', f'"{source}"')
        operator = json.loads(self.opsight("ops", name, "--json").stdout)["operators"][0]
        options = {key: option["values"] for key, option in operator["options"].items() if key != "eps"}
        for values in itertools.product(*options.values()):
            chosen = dict(zip(options, values))
            with self.subTest(**chosen):
                lines = "".join(f'{key} = "{value}"\n' for key, value in chosen.items())
                (self.folder / "port.toml").write_text(f"{text}\n[options]\n{lines}")
                run = self.opsight("verify", "port.toml", "--json", "--quiet", "--accuracy-only", "-o", "out")
                self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
                verdict = json.loads(run.stdout)
                self.assertGreater(len(verdict["accuracy"]["cases"]), 20)
                self.assertFalse([check for check in verdict["checks"] if check["pass"] is False])

    def test_softmax(self):
        self.passes_under_every_option("softmax")

    def test_softmax_backward(self):
        self.passes_under_every_option("softmax_backward")

    def test_layernorm(self):
        self.passes_under_every_option("layernorm")

    def test_layernorm_backward(self):
        self.passes_under_every_option("layernorm_backward")

    def test_rmsnorm(self):
        self.passes_under_every_option("rmsnorm")

    def test_rmsnorm_backward(self):
        self.passes_under_every_option("rmsnorm_backward")

    def test_matmul(self):
        self.passes_under_every_option("matmul")


if __name__ == "__main__":
    unittest.main()
