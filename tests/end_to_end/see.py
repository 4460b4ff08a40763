#!/usr/bin/python3
"""What `opsight see` says of kernels whose counts are known by hand. $OPSIGHT is the tool."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

OPSIGHT = os.environ.get("OPSIGHT", "opsight")
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"

TURN = """#ifndef PAD
#define PAD 0
#endif
__global__ void turn(const float *in, float *out, int n) {
  __shared__ float tile[32][32 + PAD];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void turn_plainly(const float *in, float *out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}
"""
TURN_PORT = """operator = "none"
source = "kernel.cu"
kernel = "turn"
[symbols]
n = [32, 64]
[buffers]
in = { type = "float", count = "n * n", fill = "normal" }
out = { type = "float", count = "n * n", role = "output" }
[launch]
grid = ["n / 32", "n / 32"]
block = [32, 32]
"""
LINE_PORT = """operator = "none"
source = "kernel.cu"
kernel = "k"
[symbols]
n = 4096
[buffers]
x = { type = "float", count = "n", fill = "normal" }
y = { type = "float", count = "n", role = "output" }
[launch]
grid = ["n / 256"]
block = [256]
"""


class See(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="opsight-see-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_see(self, *options, code=0, port="port.toml"):
        run = subprocess.run([OPSIGHT, "see", str(port), "--quiet", *options], cwd=self.folder, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, timeout=120)
        self.assertEqual(run.returncode, code, run.stderr + run.stdout)
        return run

    def see(self, kernel=None, port=None, *options, file="port.toml"):
        if kernel:
            (self.folder / "kernel.cu").write_text(kernel)
        if port:
            (self.folder / "port.toml").write_text(port)
        return json.loads(self.run_see("--json", *options, port=file).stdout)

    def line(self, seen, number, space, op="load"):
        found = [each for each in seen["lines"] if (each["line"], each["space"], each["op"]) == (number, space, op)]
        self.assertEqual(len(found), 1, seen["lines"])
        return found[0]

    def finding(self, seen, kind):
        found = [each for each in seen["findings"] if each["kind"] == kind]
        self.assertEqual(len(found), 1, seen["findings"])
        return found[0]

    def kinds(self, seen):
        return [each["kind"] for each in seen["findings"]]

    def test_a_tile_read_by_column_conflicts_at_its_line(self):
        seen = self.see(TURN, TURN_PORT, "--case", "n=32")
        column = self.line(seen, 10, "shared")
        self.assertEqual((column["requests"], column["wavefronts"], column["ideal_wavefronts"]), (32, 1024, 32))
        self.assertEqual(column["variable"], "tile")
        row = self.line(seen, 7, "global")
        self.assertEqual((row["requests"], row["sectors"], row["ideal_sectors"], row["bytes"]), (32, 128, 128, 4096))
        conflict = self.finding(seen, "bank_conflict")
        self.assertEqual((conflict["line"], conflict["hint"]), (10, "pad=1"))
        self.assertIn("33 floats", conflict["change"])
        self.assertAlmostEqual(conflict["cost"], 0.24, delta=0.01)

    def test_a_padded_tile_has_no_finding(self):
        seen = self.see(TURN, TURN_PORT.replace("[symbols]", '[defines]\nPAD = "1"\n[symbols]'))
        self.assertEqual(self.kinds(seen), [])
        self.assertEqual(seen["case"], "n=64")
        self.assertEqual(self.line(seen, 10, "shared")["wavefronts"], 128)
        self.assertEqual(seen["occupancy"]["shared_bytes"], 32 * 33 * 4)

    def test_stores_by_column_are_uncoalesced(self):
        seen = self.see(TURN, TURN_PORT.replace('"turn"', '"turn_plainly"'))
        finding = self.finding(seen, "uncoalesced")
        self.assertEqual(finding["evidence"]["sectors"], 8 * finding["evidence"]["ideal"])
        self.assertEqual(finding["evidence"]["stride"], 256)

    def test_threads_that_part_are_counted(self):
        kernel = """__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = x[i];
  if (threadIdx.x % 32 < 8)
    for (int j = 0; j < n / 10; ++j)
      sum = sum * sum + 1.0f;
  y[i] = sum;
}
"""
        seen = self.see(kernel, LINE_PORT)
        finding = self.finding(seen, "divergence")
        self.assertLess(finding["evidence"]["threads"], 9)
        self.assertGreater(finding["cost"], 0.5)
        self.assertLess(seen["totals"]["lanes_active"], 0.4)

    def test_flops_and_bytes_are_those_of_the_launch(self):
        seen = self.see(file=EXAMPLES / "saxpy" / "verify.toml")
        self.assertEqual(seen["case"], "n=4096")
        totals = seen["totals"]
        self.assertEqual((totals["flops"], totals["global_bytes"], totals["moved_bytes"]), (8192, 3 * 16384, 3 * 16384))
        self.assertEqual(totals["lanes_active"], 1.0)
        self.assertEqual(seen["model"]["bound_by"], "memory")

    def test_an_operators_kernel_is_watched_on_a_case_of_whole_blocks(self):
        seen = self.see(file=EXAMPLES / "sdpa" / "port.toml")
        self.assertEqual((seen["kernel"], seen["card"]), ("flash_forward", "a100"))
        self.assertIn("L=256", seen["case"])
        self.assertEqual(seen["totals"]["lanes_active"], 1.0)
        self.assertEqual(seen["occupancy"]["shared_bytes"], 37376)
        plain = self.see(file=EXAMPLES / "sdpa" / "port_plain.toml")
        self.assertIn("uncoalesced", self.kinds(plain))

    def test_every_launch_has_its_own_findings(self):
        seen = self.see(file=EXAMPLES / "sum" / "verify.toml")
        self.assertEqual(seen["kernel"], "sum_blocks")
        self.assertEqual([each["kernel"] for each in seen["then"]], ["sum_partials"])
        self.assertFalse([each for each in seen["findings"] + seen["then"][0]["findings"] if each["fault"]])

    def test_the_profile_is_chosen_by_card(self):
        for card in ("h100", "rtx4090", "mi300x", "generic", "ascend910b", "cpu"):
            seen = self.see(TURN, TURN_PORT, "--card", card)
            self.assertEqual(seen["card"], card)
            self.assertEqual(self.line(seen, 10, "shared")["wavefronts"], 4096)
        self.assertEqual(seen["occupancy"], None)
        seen = self.see(TURN, 'card = "h100"\n' + TURN_PORT)
        self.assertEqual(seen["card"], "h100")
        self.assertIn("did you mean", self.run_see("--card", "a10", code=2).stderr)

    def test_a_launch_over_the_profiles_limits_is_a_fault_of_the_kernel_there(self):
        kernel = """__global__ void k(const float *x, float *y, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[255 - threadIdx.x];
}
"""
        port = LINE_PORT.replace('grid = ["n / 256"]', 'grid = [1]\nshared = "120 * 1024"')
        seen = self.see(kernel, port, "--card", "rtx4090")
        self.assertTrue(self.finding(seen, "launch_limit")["fault"])
        seen = self.see(kernel, port, "--card", "a100")
        self.assertFalse(self.finding(seen, "launch_limit")["fault"])
        self.assertIn("cudaFuncSetAttribute", self.finding(seen, "launch_limit")["change"])

    def test_a_vector_at_an_odd_address_is_a_fault(self):
        kernel = """__global__ void k(const float *x, float *y, int n) {
  if (blockIdx.x == 0 && threadIdx.x < 32) {
    float4 v = *(const float4 *)(x + 1 + 4 * threadIdx.x);
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
  }
}
"""
        finding = self.finding(self.see(kernel, LINE_PORT), "misaligned")
        self.assertEqual((finding["line"], finding["fault"]), (3, True))
        self.assertIn("multiple of 16", finding["what"])

    def test_a_missing_barrier_is_a_race_at_its_lines(self):
        seen = self.see(TURN.replace("  __syncthreads();\n", ""), TURN_PORT)
        races = [each for each in seen["findings"] if each["kind"] == "race"]
        self.assertEqual({(each["line"], each["evidence"]["other_line"]) for each in races}, {(7, "kernel.cu:9"), (9, "kernel.cu:7")})
        self.assertTrue(all(each["fault"] and each["cost"] == 1 for each in races))
        self.assertTrue(seen["findings"][0]["fault"])

    def test_what_nobody_has_written_is_uninitialised(self):
        kernel = """__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[i];
}
"""
        self.assertEqual(self.finding(self.see(kernel, LINE_PORT), "uninitialised")["line"], 3)

    def test_a_kernel_that_strays_is_a_finding_and_no_failure(self):
        kernel = """__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i + (i == n - 1 ? 100000 : 0)] = x[i];
}
"""
        seen = self.see(kernel, LINE_PORT)
        self.assertIn("out_of_bounds", self.kinds(seen))
        self.assertTrue(seen["findings"][0]["fault"])

    def test_a_tail_that_is_not_guarded_is_found_on_a_case_of_its_own(self):
        kernel = """__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
"""
        port = LINE_PORT.replace("n = 4096", "n = [256, 1000]").replace("n / 256", "ceil_div(n, 256)")
        seen = self.see(kernel, port)
        self.assertEqual(seen["case"], "n=256")
        self.assertEqual({(each["kind"], each["evidence"]["case"]) for each in seen["findings"]}, {("out_of_bounds", "n=1000")})
        guarded = kernel.replace("y[i]", "if (i < n) y[i]")
        self.assertEqual(self.kinds(self.see(guarded, port)), [])

    def test_a_launch_that_nobody_can_run_is_told_by_its_limits(self):
        kernel = "__global__ void k(const float *x, float *y, int n) { y[threadIdx.x] = x[threadIdx.x]; }\n"
        seen = self.see(kernel, LINE_PORT.replace("[256]", "[2048]"))
        self.assertEqual(self.kinds(seen), ["launch_limit"])
        self.assertIn("not watched", " ".join(seen["notes"]))

    def test_a_barrier_that_threads_miss_is_a_finding(self):
        kernel = """__global__ void k(const float *x, float *y, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 40) {
    __syncthreads();
    s[threadIdx.x] += s[255 - threadIdx.x];
  }
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = s[255 - threadIdx.x];
}
"""
        finding = self.finding(self.see(kernel, LINE_PORT), "barrier")
        self.assertEqual((finding["line"], finding["fault"]), (5, True))

    def test_a_kernel_that_never_ends_is_a_finding(self):
        kernel = """__global__ void k(const float *x, float *y, int n) {
  volatile int stop = 0;
  while (!stop)
    ;
  y[threadIdx.x] = x[threadIdx.x];
}
"""
        self.assertIn("hang", self.kinds(self.see(kernel, LINE_PORT, "--timeout", "1")))

    def test_sarif_names_files_relative_to_the_folder(self):
        self.see(TURN, TURN_PORT)
        for log in (self.run_see("--sarif").stdout, self.run_see("--sarif", "out.sarif") and (self.folder / "out.sarif").read_text()):
            run = json.loads(log)["runs"][0]
            place = run["results"][0]["locations"][0]["physicalLocation"]
            self.assertEqual(place["artifactLocation"]["uri"], "kernel.cu")
            self.assertEqual(place["region"]["startLine"], 10)
            self.assertEqual(run["tool"]["driver"]["rules"][0]["id"], "bank_conflict")
        self.assertIn("standard output", self.run_see("--sarif", "--json", code=2).stderr)

    def test_a_folder_gets_all_three(self):
        self.see(TURN, TURN_PORT)
        text = self.run_see("-o", "results").stdout
        self.assertIn("bank_conflict", text)
        self.assertEqual(sorted(path.name for path in (self.folder / "results").iterdir() if path.name.startswith("findings")),
                         ["findings.json", "findings.sarif", "findings.txt"])

    def test_a_source_with_options_says_the_same(self):
        seen = json.loads(self.run_see("--json", "--operator", "scaled_dot_product_attention", "--grid", "ceil_div(L, 64), H, B", "--block",
                                       "64", "--argument", "heads=H", "--argument", "kv_heads=Hkv", "--argument", "queries=L", "--argument",
                                       "keys=S", "--case", "L=64,D=64", port=EXAMPLES / "sdpa" / "naive.cu").stdout)
        self.assertEqual(seen["kernel"], "naive_attention")
        self.assertIn("L=64", seen["case"])

    def test_an_instance_of_a_template_has_its_registers(self):
        kernel = "template <int N> __global__ void k(const float *x, float *y, int n) {\n" \
                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  y[i] = N * x[i];\n}\n"
        occupancy = self.see(kernel, LINE_PORT.replace('"k"', '"k<3>"'))["occupancy"]
        if occupancy["registers"] is None:
            self.assertEqual(occupancy["registers_source"], "no CUDA toolkit here")
        else:
            self.assertEqual(occupancy["registers_source"], "ptxas")

    def test_without_a_toolkit_registers_are_unknown_with_the_reason(self):
        self.see(TURN, TURN_PORT)
        broken = TURN + "\n#ifndef __clang__\nthis only nvcc sees\n#endif\n"
        occupancy = self.see(broken, TURN_PORT)["occupancy"]
        self.assertIsNone(occupancy["registers"])
        self.assertRegex(occupancy["registers_source"], "no CUDA toolkit here|nvcc refuses it")

    def test_cuda_that_does_not_compile_is_the_users_error(self):
        (self.folder / "kernel.cu").write_text("__global__ void turn(const float *in, float *out, int n) { nonsense }\n")
        (self.folder / "port.toml").write_text(TURN_PORT)
        self.assertIn("kernel.cu:1", self.run_see(code=2).stderr)


if __name__ == "__main__":
    unittest.main()
