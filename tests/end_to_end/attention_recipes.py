#!/usr/bin/python3
"""The attention kernels of kernels/ under every option of the operator, and a port that keeps an engineer's constraints
literally. Only accuracy and checks: speed is the bench's. $OPSIGHT is the tool."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

OPSIGHT = os.environ.get("OPSIGHT", "opsight")
ROOT = pathlib.Path(__file__).resolve().parents[2]


class AttentionRecipes(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="opsight-recipes-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def passes(self, verb, file, *options):
        run = subprocess.run([OPSIGHT, verb, str(file), "--json", "--quiet", "--accuracy-only", "-o", "out", *options],
                             cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=240)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        verdict = json.loads(run.stdout)
        self.assertEqual(verdict["verdict"], "PASS")
        for check in verdict["checks"]:
            self.assertIsNot(check["pass"], False, check)
        return verdict

    def under(self, options, kernel):
        source = ROOT / "kernels" / "attention" / f"{kernel}.cu"
        text = source.with_suffix(".toml").read_text().replace(f'"{source.name}"', f'"{source}"')
        (self.folder / "port.toml").write_text(text + f"\n[options]\n{options}\n")
        return self.passes("verify", "port.toml")

    def test_five_constraints_are_kept_literally_by_tiles_that_a_block_shares(self):
        verdict = self.passes("port", ROOT / "examples" / "sdpa" / "port.toml", "--mapping", "simt")
        self.assertEqual(verdict["candidate"]["name"], "recipe/flash_simt")
        hints = {hint["key"] + "=" + hint["value"]: hint for hint in verdict["hints"]}
        self.assertEqual(set(hints), {"softmax=online", "softmax=max-before-sum", "tile=64x64", "reduce-stride=4",
                                      "kv=row-major", "kv=shared", "order=accuracy-first"})
        for name, hint in hints.items():
            self.assertIs(hint["kept"], True, name + ": " + hint["evidence"])

    def test_shared_tiles_under_a_causal_mask(self):
        for causal in "top-left", "bottom-right":
            with self.subTest(causal):
                self.under(f'causal = "{causal}"', "flash_simt")

    def test_shared_tiles_under_a_mask(self):
        for mask in "bool", "additive":
            with self.subTest(mask):
                self.under(f'mask = "{mask}"', "flash_simt")

    def test_a_kernel_that_names_parameters_is_seen_with_their_values(self):
        run = subprocess.run([OPSIGHT, "see", str(ROOT / "kernels" / "attention" / "flash_simt.toml"), "--json", "--quiet"],
                             cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=240)
        self.assertEqual(run.returncode, 0, run.stderr)
        seen = json.loads(run.stdout)
        self.assertEqual(seen["kernel"], "flash_simt<64, 64, 4>")
        self.assertEqual([finding for finding in seen["findings"] if finding["kind"] == "bank_conflict"], [])

    def test_gradients(self):
        self.under("", "flash_backward_simd")

    def test_gradients_under_a_causal_mask(self):
        for causal in "top-left", "bottom-right":
            with self.subTest(causal):
                self.under(f'causal = "{causal}"', "flash_backward_simd")

    def test_gradients_under_a_mask(self):
        for mask in "bool", "additive":
            with self.subTest(mask):
                self.under(f'mask = "{mask}"', "flash_backward_simd")


if __name__ == "__main__":
    unittest.main()
