#!/usr/bin/python3
"""Kernels without an operator: right ones pass, each planted fault fails for its own reason. $OPSIGHT is the tool."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

OPSIGHT = os.environ.get("OPSIGHT", "opsight")
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SAXPY = (EXAMPLES / "saxpy" / "saxpy.cu").read_text()
SUM = (EXAMPLES / "sum" / "sum.cu").read_text()
HISTOGRAM = """
__global__ void count(const int *value, unsigned int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[value[i] & 15], 1000000u);
}
"""
HISTOGRAM_PLAIN = """
void count_plain(const int *value, unsigned *bins, int n) {
  for (int i = 0; i < n; ++i) bins[value[i] & 15] += 1000000u;
}
"""
HISTOGRAM_PORT = """operator = "none"
source = "kernel.cu"
[symbols]
n = [1, 1000]
[buffers]
value = { type = "int", count = "n", fill = "uniform" }
bins = { type = "unsigned int", count = 16, fill = "zero", role = "output" }
[launch]
grid = ["ceil_div(n, 64)"]
block = [64]
[reference]
source = "plain.cpp"
function = "count_plain"
"""

# Bubbles rise through the whole grid: every round compares neighbours that other threads, and blocks, have moved before.
SORT = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void sort(int *value, int n) {
  cg::grid_group grid = cg::this_grid();
  int stride = grid.num_threads();
  for (int round = 0; round < n; ++round) {
    for (int i = 2 * (int)grid.thread_rank() + round % 2; i + 1 < n; i += 2 * stride) {
      int low = value[i], high = value[i + 1];
      if (low > high) { value[i] = high; value[i + 1] = low; }
    }
    grid.sync();
  }
}
"""
SORT_PLAIN = """
#include <algorithm>
void sort_plain(int *value, int n) { std::sort(value, value + n); }
"""
SORT_PORT = """operator = "none"
source = "kernel.cu"
[symbols]
n = [1, 2, 1000]
[buffers]
value = { type = "int", count = "n", fill = "normal", role = "inout" }
[launch]
grid = ["ceil_div(n, 100)"]
block = [50]
[reference]
source = "plain.cpp"
function = "sort_plain"
"""


class AnyKernel(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="opsight-any-kernel-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, **files):
        for name, text in files.items():
            path = self.folder / {"kernel": "kernel.cu", "plain": "plain.cpp", "port": "port.toml"}[name]
            path.write_bytes(text) if isinstance(text, bytes) else path.write_text(text)

    def verdict(self, code, *options, port="port.toml"):
        run = subprocess.run([OPSIGHT, "verify", str(port), "--json", "--quiet", "-o", "out", *options], cwd=self.folder,
                             capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
        self.assertEqual(run.returncode, code, run.stderr + run.stdout)
        return json.loads(run.stdout)

    def example(self, name, kernel):
        """The example's port file beside another kernel text."""
        port = (EXAMPLES / name / "verify.toml").read_text()
        for file in ("saxpy", "sum"):
            port = port.replace(f'"{file}.cu"', '"kernel.cu"').replace(f'"{file}_plain.cpp"', '"plain.cpp"')
        self.write(kernel=kernel, port=port, plain=(EXAMPLES / name / f"{name}_plain.cpp").read_text())

    def fails(self, reason, phase=None, *options):
        verdict = self.verdict(1, *options)
        self.assertIn(reason, verdict["reasons"], verdict)
        if phase:
            self.assertIn(phase, [each["where"]["phase"] for each in verdict["accuracy"]["cases"] if "where" in each], verdict)
        return verdict

    def test_the_examples_pass_and_say_that_there_is_no_operator(self):
        for name, cases in (("saxpy", 12), ("sum", 12)):
            verdict = self.verdict(0, port=EXAMPLES / name / "verify.toml")
            self.assertEqual((verdict["operator"], verdict["verdict"]), ("none", "PASS"))
            self.assertEqual(len(verdict["accuracy"]["cases"]), cases)
            self.assertLess(verdict["accuracy"]["max_error"], 1e-5)
            self.assertIsNone(verdict["speed"])

    def test_a_verdict_is_replayed_by_the_port_file_that_it_left(self):
        for name in ("saxpy", "sum"):
            self.verdict(0, "--seed", "7", port=EXAMPLES / name / "verify.toml")
            first = json.loads((self.folder / "out" / "verdict.json").read_text())
            command = first["replay"].split()
            self.assertEqual(command[:2], ["opsight", "verify"])
            (self.folder / "again.toml").write_text((self.folder / command[2]).read_text())
            again = self.verdict(0, *command[3:], port="again.toml")
            self.assertEqual(again["accuracy"]["cases"], first["accuracy"]["cases"])
            self.assertIn("saxpy" if name == "saxpy" else "sum_blocks", (self.folder / "out" / "report.md").read_text())

    def test_an_index_that_is_off_by_one(self):
        self.example("saxpy", SAXPY.replace("a * x[i] + y[i]", "a * x[i > 0 ? i - 1 : 0] + y[i]"))
        self.fails("error", "values")

    def test_a_result_in_its_neighbours_place(self):
        self.example("saxpy", SAXPY.replace("y[i] = a * x[i] + y[i]", "y[i] = x[i ? i - 1 : 0]"))
        (self.folder / "plain.cpp").write_text("void saxpy_plain(int n, float a, const float *x, float *y) {"
                                               " for (int i = 0; i < n; ++i) y[i] = x[i]; }")
        self.fails("error", "neighbour")

    def test_a_tail_that_no_block_reaches(self):
        self.example("saxpy", SAXPY)
        self.write(port=(self.folder / "port.toml").read_text().replace('"ceil_div(n, 256)"', '"max(n / 256, 1)"'))
        self.fails("error", "unchanged")

    def test_a_tail_of_an_output_that_is_never_written(self):
        self.example("saxpy", SAXPY.replace("+ y[i]", "").replace("i < n", "i < n - n % 4"))
        port = (self.folder / "port.toml").read_text().replace('fill = "normal", role = "inout"', 'role = "output"')
        self.write(port=port, plain="void saxpy_plain(int n, float a, const float *x, float *y) {"
                                    " for (int i = 0; i < n; ++i) y[i] = a * x[i]; }")
        self.fails("unwritten", "indexing")

    def test_a_read_past_the_end(self):
        self.example("saxpy", SAXPY.replace("if (i < n)", "").replace("y[i] = a", "if (i < n) y[i] = x[i + 4096] * 0 + a"))
        self.fails("out_of_bounds")

    def test_a_write_past_the_end(self):
        self.example("saxpy", SAXPY.replace("if (i < n)", "if (i <= n)"))
        self.fails("out_of_bounds")

    def test_an_input_that_is_changed(self):
        self.example("saxpy", SAXPY.replace("const float *x", "float *x").replace("y[i] = a", "x[i] += 1, y[i] = a"))
        self.fails("input_modified")

    def test_a_second_launch_that_forgets_a_part(self):
        self.example("sum", SUM.replace("threadIdx.x < count", "threadIdx.x < count - 1"))
        self.fails("error")

    def test_a_scratch_buffer_whose_old_content_is_used(self):
        self.example("sum", SUM.replace("partial[blockIdx.x] = sum", "partial[blockIdx.x] += sum"))
        self.assertTrue(set(self.verdict(1)["reasons"]) & {"nan", "error", "uninitialised"})

    def test_a_crash_in_the_second_launch_is_told_as_its_own(self):
        self.example("sum", SUM.replace("*total = sum", "total[5000] = sum"))
        verdict = self.fails("out_of_bounds")
        self.assertIn("launch 2, sum_partials", json.dumps(verdict))

    def test_whole_numbers_must_be_equal(self):
        self.write(kernel=HISTOGRAM, plain=HISTOGRAM_PLAIN, port=HISTOGRAM_PORT)
        self.verdict(0)
        self.write(kernel=HISTOGRAM.replace("1000000u)", "1000000u + (i == 7))"))  # one in 10^7 and more
        self.fails("error")
        self.fails("error", None, "--max-error", "0.5")

    def test_an_output_of_which_the_kernel_writes_a_part(self):
        self.write(kernel=HISTOGRAM.replace("& 15", "& 7"), plain=HISTOGRAM_PLAIN.replace("& 15", "& 7"), port=HISTOGRAM_PORT)
        self.verdict(0)

    def test_blocks_that_race_for_one_place(self):
        last = "if (i < n) bins[0] = i"
        self.write(kernel=HISTOGRAM.replace("if (i < n) atomicAdd(&bins[value[i] & 15], 1000000u)", last),
                   plain=HISTOGRAM_PLAIN.replace("bins[value[i] & 15] += 1000000u", "bins[0] = i"), port=HISTOGRAM_PORT)
        self.assertTrue(set(self.verdict(1)["reasons"]) & {"not_repeatable", "error"})
        self.write(port='reference = "original"\n' + HISTOGRAM_PORT[:HISTOGRAM_PORT.index("[reference]")])
        self.assertTrue(set(self.verdict(1)["reasons"]) & {"not_repeatable", "error"})

    def test_data_from_a_file(self):
        header = "{'descr': '<i4', 'fortran_order': False, 'shape': (1000,), }".ljust(117) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<1000i", *range(1000))
        (self.folder / "values.npy").write_bytes(data)
        port = HISTOGRAM_PORT.replace('fill = "uniform"', 'fill = "values.npy"').replace("n = [1, 1000]", "n = 1000")
        self.write(kernel=HISTOGRAM, plain=HISTOGRAM_PLAIN, port=port)
        self.assertEqual(len(self.verdict(0)["accuracy"]["cases"]), 1, "no data are random, so one seed is all")
        self.write(port=port.replace("n = 1000", "n = 1001"))
        run = subprocess.run([OPSIGHT, "verify", "port.toml"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("1000 elements", run.stderr)

    def with_the_original(self, kernel):
        self.example("sum", kernel)
        port = (self.folder / "port.toml").read_text()
        self.write(port=port[:port.index("[reference]")] + '[reference]\nsource = "original"\n')

    def test_the_original_is_a_reference_on_its_own_card(self):
        self.with_the_original(SUM)
        self.verdict(0)
        self.with_the_original(SUM.replace("*total = sum", "total[5000] = sum"))
        run = subprocess.run([OPSIGHT, "verify", "port.toml", "-o", "out"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertIn("reference 'original' is itself wrong", run.stderr)

    def test_the_original_on_the_embedded_card_is_a_reference_for_another_card(self):
        run = subprocess.run([OPSIGHT, "cards", "opencl:pocl", "--json"], capture_output=True, text=True)
        if run.returncode or not json.loads(run.stdout)["cards"][0].get("device"):
            self.skipTest("no device of card opencl:pocl")
        self.with_the_original(SUM)
        self.assertEqual(self.verdict(0, "--card", "opencl:pocl")["card"]["name"], "opencl:pocl")

    def test_blocks_that_wait_for_the_whole_grid(self):
        self.write(kernel=SORT, plain=SORT_PLAIN, port=SORT_PORT)
        verdict = self.verdict(0)
        seen = {check["name"]: check["pass"] for check in verdict["checks"]}
        for name in ("race", "uninitialised", "misaligned", "barrier"):
            self.assertIs(seen[name], True, name)
        manifest = json.loads((self.folder / "out" / "artifact" / "manifest.json").read_text())
        self.assertGreater(manifest["resident_bytes"], 0)

    def test_a_block_that_does_not_come_to_the_barrier_of_the_grid(self):
        self.write(kernel=SORT.replace("  int stride", "  if (grid.block_rank() == 3) return;\n  int stride"), plain=SORT_PLAIN,
                   port=SORT_PORT)
        verdict = self.fails("barrier")
        self.assertIn("kernel.cu:13: only part of the grid's blocks come to its barrier: block 3,0,0 has returned",
                      json.dumps(verdict))

    def test_blocks_that_should_wait_for_the_whole_grid(self):
        self.write(kernel=SORT.replace("grid.sync()", "__syncthreads()"), plain=SORT_PLAIN, port=SORT_PORT)
        verdict = self.fails("race")
        self.assertIn("nothing orders the blocks", json.dumps(verdict["checks"]))

    def test_what_a_block_keeps_while_the_grid_meets_is_watched(self):
        """Shared memory of many blocks, by turns: each its own, written before a meeting and read behind it."""
        kept = """
#include <cooperative_groups.h>
__global__ void turn(const int *in, int *out, int n) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[64];
  auto grid = cooperative_groups::this_grid();
  int t = threadIdx.x, i = grid.thread_rank();
  fixed[t] = in[i];
  grid.sync();
  dynamic[t] = fixed[63 - t];
  for (int round = 0; round < 3; ++round) {
    grid.sync();
    int left = dynamic[(t + 1) % 64];
    __syncthreads();
    dynamic[t] = left;
  }
  out[n - 1 - i] = dynamic[t];
}
"""
        plain = """
void turn_plain(const int *in, int *out, int n) {
  for (int i = 0; i < n; ++i) out[n - 1 - i] = in[i / 64 * 64 + 63 - (i % 64 + 3) % 64];
}
"""
        port = """operator = "none"
source = "kernel.cu"
[symbols]
n = 640
[buffers]
in = { type = "int", count = "n", fill = "normal" }
out = { type = "int", count = "n", role = "output" }
[launch]
grid = ["n / 64"]
block = [64]
shared = "256"
[reference]
source = "plain.cpp"
function = "turn_plain"
"""
        self.write(kernel=kept, plain=plain, port=port)
        seen = {check["name"]: check["pass"] for check in self.verdict(0)["checks"]}
        self.assertTrue(seen["race"] and seen["uninitialised"] and seen["out_of_bounds"], seen)
        self.write(kernel=kept.replace("    __syncthreads();\n", ""))
        self.assertIn("dynamic", json.dumps(self.fails("race")["checks"]))
        self.write(kernel=kept.replace("fixed[t] = in[i]", "if (t) fixed[t] = in[i]"))
        self.assertIn("fixed[0]", json.dumps(self.fails("uninitialised")["checks"]))

    def test_a_block_that_never_comes_to_the_barrier_of_the_grid(self):
        stays = "  volatile int *first = value;\n  while (grid.block_rank() == 1 && *first != -77777) {}\n  int stride"
        self.write(kernel=SORT.replace("  int stride", stays), plain=SORT_PLAIN, port=SORT_PORT)
        self.assertIn("hang", self.verdict(1, "--timeout", "1")["reasons"])

    def test_more_blocks_than_can_wait_for_each_other(self):
        self.write(kernel=SORT, plain=SORT_PLAIN, port=SORT_PORT.replace('"ceil_div(n, 100)"', "60000"))
        verdict = self.fails("limits")
        self.assertIn("blocks of a launch that waits for the whole grid = 60000 is over the card's limit", json.dumps(verdict))

    def test_a_barrier_of_the_whole_grid_is_refused_by_name_on_other_cards(self):
        run = subprocess.run([OPSIGHT, "cards", "opencl:pocl", "--json"], capture_output=True, text=True)
        if run.returncode or not json.loads(run.stdout)["cards"][0].get("device"):
            self.skipTest("no device of card opencl:pocl")
        self.write(kernel=SORT, plain=SORT_PLAIN, port=SORT_PORT)
        run = subprocess.run([OPSIGHT, "verify", "port.toml", "--card", "opencl:pocl", "-o", "out"], cwd=self.folder,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("a barrier of the whole grid", run.stderr)

    def test_a_case_from_the_command_line(self):
        self.example("saxpy", SAXPY)
        names = [each["name"] for each in self.verdict(0, "--case", "n=77")["accuracy"]["cases"]]
        self.assertIn("n=77", names)


if __name__ == "__main__":
    unittest.main()
