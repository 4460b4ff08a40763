#!/usr/bin/python3
"""What the tool says to bad input: each with its exit code and a message that says what to do. $OPSIGHT is the tool."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time
import unittest

OPSIGHT = os.environ.get("OPSIGHT", "opsight")
KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"
GOOD = """
__global__ void attention(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L, int S, int D,
                          int Dv, float scale) { if (threadIdx.x == 0 && L == 0) o[0] = 0; }
"""
PORT = """operator = "scaled_dot_product_attention"
source = "kernel.cu"
kernel = "attention"
card = "opencl:pocl"
[launch]
grid = ["ceil_div(L, 32)", "H", "B"]
block = [32]
[limits]
"max(L, 8)" = 8
"max(S, 8)" = 8
"""

ANY_KERNEL = """__global__ void scale(const float *x, float *y, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
"""
ANY_PLAIN = """void scale_plain(const float *x, float *y, int n, float factor) {
  for (int i = 0; i < n; ++i) y[i] = factor * x[i];
}
"""
ANY_PORT = """operator = "none"
source = "kernel.cu"
[symbols]
n = 64
[buffers]
x = { type = "float", count = "n", fill = "normal" }
y = { type = "float", count = "n", role = "output" }
[arguments]
factor = 2.5
[launch]
grid = ["ceil_div(n, 32)"]
block = [32]
[reference]
source = "plain.cpp"
function = "scale_plain"
"""


def descendants(pid):
    """Processes below `pid`, by the parents that /proc tells."""
    parent = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass  # it ended meanwhile
    found, todo = set(), {pid}
    while todo:
        todo = {child for child, its in parent.items() if its in todo} - found
        found |= todo
    return found


class BadInput(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="opsight-bad-input-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "kernel.cu").write_text(GOOD)
        (self.folder / "port.toml").write_text(PORT)

    def run_tool(self, *arguments, **options):
        return subprocess.run([OPSIGHT, *arguments], cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, **options)

    def refused(self, code, words, *arguments, kernel=None, port=None, **options):
        """The tool ends with `code`, says all of `words` on standard error and prints no result."""
        if kernel is not None:
            (self.folder / "kernel.cu").write_text(kernel)
        if port is not None:
            (self.folder / "port.toml").write_text(port)
        run = self.run_tool(*(arguments or ("verify", "port.toml", "--accuracy-only")), **options)
        said = f"\nexit code {run.returncode}\n{run.stderr}\n{run.stdout}"
        self.assertEqual(run.returncode, code, said)
        for word in words:
            self.assertIn(word.lower(), run.stderr.lower(), said)
        return run

    def test_no_such_file(self):
        self.refused(2, ["missing.toml", "no such file"], "verify", "missing.toml")

    def test_a_folder_for_a_file(self):
        self.refused(2, [str(self.folder)], "verify", str(self.folder))

    def test_source_that_does_not_exist(self):
        self.refused(2, ["gone.cu"], port=PORT.replace("kernel.cu", "gone.cu"))

    def test_not_cuda(self):
        self.refused(2, ["kernel.cu:1:", "error"], kernel="Dear card, please compute attention.\n")

    def test_binary_for_source(self):
        self.refused(2, ["kernel.cu"], kernel="\x7fELF\x02\x01\x01\0\0\0\0")

    def test_empty_source(self):
        self.refused(2, ["kernel"], kernel="")

    def test_type_error_is_shown_in_the_compilers_words(self):
        self.refused(2, ["kernel.cu:3:", "error:", "^"], kernel=GOOD.replace("o[0] = 0", 'o[0] = "zero"'))

    def test_no_kernel(self):
        self.refused(2, ["kernel", "__global__"], kernel="float twice(float x) { return 2 * x; }\n",
                     port=PORT.replace('kernel = "attention"\n', ""))

    def test_two_kernels_and_no_name(self):
        self.refused(2, ["attention", "second"], kernel=GOOD + GOOD.replace("attention", "second"),
                     port=PORT.replace('kernel = "attention"\n', ""))

    def test_kernel_that_is_not_there(self):
        self.refused(2, ["atention", "attention"], port=PORT.replace('"attention"', '"atention"'))

    def test_unknown_operator(self):
        self.refused(2, ["scaled_dot_product_atention", "did you mean", "scaled_dot_product_attention"],
                     port=PORT.replace("attention\"\nsource", "atention\"\nsource"))

    def test_unknown_card(self):
        self.refused(2, ["opencl:pokl", "opencl:pocl"], "verify", "port.toml", "--card", "opencl:pokl")

    def test_unknown_symbol(self):
        self.refused(2, ["Lq"], port=PORT.replace("ceil_div(L,", "ceil_div(Lq,"))

    def test_unknown_key(self):
        self.refused(2, ["blok", "block"], port=PORT.replace("block =", "blok ="))

    def test_unknown_option_value(self):
        self.refused(2, ["bottom-right"], port=PORT + '[options]\ncausal = "botom-right"\n')

    def test_unknown_hint(self):
        self.refused(2, ["tyle", "tile"], "port", "port.toml", "--hint", "tyle=64x64")

    def test_a_sentence_that_is_not_understood_is_shown(self):
        self.refused(2, ["sing a song"], "port", "port.toml", "--ask", "tile 64x64 and sing a song about it")

    def test_unknown_verb(self):
        self.assertNotEqual(self.run_tool("prot", "port.toml").returncode, 0)
        self.refused(2, ["prot"], "prot", "port.toml")

    def test_unknown_command_line_option(self):
        self.refused(2, ["--accurate-only"], "verify", "port.toml", "--accurate-only")

    def test_parameter_that_no_name_explains(self):
        self.refused(2, ["fudge", "[arguments]"], kernel=GOOD.replace("float scale", "float scale, int fudge"))

    def test_missing_launch(self):
        self.refused(2, ["launch"], port=PORT[:PORT.index("[launch]")])

    def test_a_block_of_a_thousand_million_threads(self):
        self.refused(2, ["1000000000 threads"], port=PORT.replace("block = [32]", "block = [1000000000]"))

    def test_launch_over_the_cards_limits(self):
        run = self.run_tool("verify", "port.toml", "--accuracy-only", "--json")
        (self.folder / "port.toml").write_text(PORT.replace("block = [32]", "block = [1000000]"))
        run = self.run_tool("verify", "port.toml", "--accuracy-only", "--json")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("limits", json.loads(run.stdout)["reasons"])

    def test_heads_that_do_not_divide(self):
        self.refused(2, ["6", "4"], "verify", "port.toml", "--accuracy-only", "--case", "B=1,H=6,Hkv=4,L=8,S=8,D=8")

    def test_negative_size(self):
        self.refused(2, ["-1"], "verify", "port.toml", "--accuracy-only", "--case", "B=1,H=2,L=-1,S=8,D=8")

    def test_zero_head_dimension(self):
        self.refused(2, ["D"], "verify", "port.toml", "--accuracy-only", "--case", "B=1,H=2,L=8,S=8,D=0")

    def test_case_with_an_unknown_symbol(self):
        self.refused(2, ["Q"], "verify", "port.toml", "--accuracy-only", "--case", "B=1,H=2,Q=8,S=8,D=8")

    def test_port_file_cut_off_in_the_middle(self):
        self.refused(2, ["port.toml:6"], port=PORT[:PORT.index('"ceil_div') + 9])

    def test_port_file_that_is_empty(self):
        self.refused(2, ["operator"], port="")

    def test_a_value_of_the_wrong_type(self):
        self.refused(2, ["port.toml", "kernel"], port=PORT.replace('"attention"', "42"))

    def test_output_folder_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        self.refused(2, ["file/out"], "verify", "port.toml", "--accuracy-only", "-o", "file/out")

    def test_too_many_elements_are_refused_before_memory_is_taken(self):
        start = time.monotonic()
        self.refused(2, ["memory"], "verify", "port.toml", "--accuracy-only", "--case", "B=1,H=1,L=1000000,S=1000000,D=1000000")
        self.assertLess(time.monotonic() - start, 10)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(used, 2 << 20, "kilobytes taken by the largest child so far")

    def test_sizes_whose_product_overflows(self):
        self.refused(2, [], "verify", "port.toml", "--accuracy-only", "--case", "B=4294967296,H=4294967296,L=1,S=1,D=1")

    def test_limits_that_no_result_could_keep_or_fail(self):
        for option in ("--max-error", "--min-speed", "--timeout"):
            for value in ("nan", "inf", "0", "-1", "1e400", "1e-5x"):
                self.refused(2, ["above 0"], "verify", "port.toml", option, value)

    def test_what_was_not_understood_is_shown_in_short(self):
        said = self.refused(2, ["not understood", "more bytes"], "verify", "port.toml", "--ask", "\u5927" * 30_000)
        self.assertLess(len(said.stderr), 5_000)

    def refused_any(self, code, words, old="", new="", kernel=ANY_KERNEL, plain=ANY_PLAIN):
        """As refused(), of a kernel without an operator whose port file says `new` for `old`."""
        self.assertIn(old, ANY_PORT)
        (self.folder / "plain.cpp").write_text(plain)
        return self.refused(code, words, "verify", "port.toml", kernel=kernel, port=ANY_PORT.replace(old, new, 1))

    def test_declarations_with_a_slip_of_the_pen_name_the_nearest(self):
        for words, old, new in ((["nrmal", "normal"], '"normal"', '"nrmal"'), (["flaot", "float"], '"float"', '"flaot"'),
                                (["ouput", "output"], '"output"', '"ouput"'), (["cout", "count"], "count", "cout"),
                                (["m", "n"], 'count = "n"', 'count = "m"'), (["faktor", "factor"], "factor", "faktor"),
                                (["scale_plane", "scale_plain"], '"scale_plain"', '"scale_plane"'),
                                (["funktion", "function"], "function", "funktion"), (["kind", "type"], "type", "kind"),
                                (["sybols", "symbols"], "[symbols]", "[sybols]")):
            with self.subTest(new):
                self.refused_any(2, ["port.toml" if "plane" not in new and "faktor" not in new else "", *words], old, new)

    def test_a_pointer_that_no_buffer_is_declared_for(self):
        self.refused_any(2, ["'const float *x'", "no buffer", "[arguments]"], "x = {", "data = {")

    def test_an_argument_that_names_an_unknown_buffer(self):
        self.refused_any(2, ["xx", "did you mean"], "factor = 2.5", 'factor = 2.5\nx = "xx"')

    def test_a_number_that_nothing_is_said_of(self):
        self.refused_any(2, ["factor", "[arguments]"], "factor = 2.5", "")

    def test_a_fraction_for_a_whole_number(self):
        self.refused_any(2, ["2.5", "no integer"], kernel=ANY_KERNEL.replace("float factor", "int factor"))

    def test_a_buffer_of_another_type_than_its_parameter(self):
        self.refused_any(2, ["'const int *x'", "float"], kernel=ANY_KERNEL.replace("const float", "const int"))
        self.refused_any(2, ["scale_plain", "const int *x"], plain=ANY_PLAIN.replace("const float", "const int"))

    def test_a_buffer_of_more_elements_than_fit_is_refused_before_memory_is_taken(self):
        start = time.monotonic()
        for count in ('"1000000000000"', '"n * 15625000000"', '"n * 1152921504606846976"', '"-n"', '"n / 0"'):
            with self.subTest(count):
                self.refused_any(2, ["port.toml:6"], 'count = "n"', f"count = {count}")
        self.assertLess(time.monotonic() - start, 10)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 2 << 20)

    def test_more_sizes_than_can_be_tried(self):
        self.refused_any(2, ["64", "port.toml:4"], "n = 64", f"n = {list(range(1, 66))}")

    def test_a_kernel_of_which_nothing_is_compared(self):
        self.refused_any(2, ["output"], ', role = "output"', "")
        self.refused_any(2, ["z", "does not receive"], "[arguments]", 'z = { type = "int", count = 1, role = "output" }\n[arguments]')

    def test_poison_for_what_is_read(self):
        self.refused_any(2, ["poison"], '"normal"', '"poison"')

    def test_a_type_that_is_not_judged_yet(self):
        self.refused_any(3, ["half"], '"float"', '"half"')

    def test_no_reference(self):
        self.refused_any(2, ["[reference]", "missing"], ANY_PORT[ANY_PORT.index("[reference]"):], "")

    def test_a_reference_that_does_not_compile(self):
        self.refused_any(2, ["plain.cpp:2:", "error:", "^"], plain=ANY_PLAIN.replace("factor *", "faktor *"))

    def test_a_reference_that_is_no_single_function(self):
        self.refused_any(2, ["twice", "2 times"], '"scale_plain"', '"twice"', plain="int twice(int x) { return 2 * x; }\n"
                         "float twice(float x) { return 2 * x; }\n")
        self.refused_any(2, ["reference", "pointer"], plain=ANY_PLAIN.replace("float *y", "float &y").replace("y[i]", "y"))

    def test_a_reference_that_crashes_hangs_or_strays_gives_no_verdict(self):
        for words, old, new in ((["address"], "y[i]", "((float *)8)[i]"), (["'x'", "past the end"], "i < n", "i <= n"),
                                (["unwritten", "y"], "i < n", "i < n - 1"), (["x"], "y[i] =", "const_cast<float *>(x)[i] +=")):
            with self.subTest(new):
                self.refused_any(4, ["scale_plain", *words], plain=ANY_PLAIN.replace(old, new))

    def test_a_reference_that_calls_the_system_gives_no_verdict(self):
        self.refused_any(4, ["scale_plain"], plain="#include <unistd.h>\n" + ANY_PLAIN.replace("for", "::unlink(\"x\"); for"))

    def test_what_goes_with_an_operator_only(self):
        self.refused_any(3, ["speed"], "[launch]", "[accept]\nmin_speed = 0.9\n[launch]")
        self.refused_any(3, ["tile"], "[launch]", "[hints]\ntile = \"64x64\"\n[launch]")
        self.refused(2, ["symbols", "none"], port=PORT + "[symbols]\nL = 4\n")

    def test_launches_in_a_row_with_arguments_for_all(self):
        self.refused_any(2, ["[[launch]]", "arguments"], "[launch]", "[[launch]]\nkernel = \"scale\"")

    def test_interrupt_leaves_no_worker_and_no_verdict(self):
        text = (KERNELS / "wrong" / "never_ends.cu").read_text()
        (self.folder / "kernel.cu").write_text(text)
        command = [OPSIGHT, "verify", "port.toml", "--accuracy-only", "--timeout", "60", "-o", "out"]
        temporary = self.folder / "temporary"
        temporary.mkdir()
        tool = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                env={**os.environ, "TMPDIR": str(temporary)})
        self.addCleanup(tool.kill)
        time.sleep(5)
        self.assertIsNone(tool.poll(), "the kernel that never ends has ended")
        below = descendants(tool.pid)
        self.assertTrue(below, "a worker runs")
        os.killpg(tool.pid, signal.SIGINT)
        tool.communicate(timeout=5)
        self.assertIn(tool.returncode, (130, -signal.SIGINT))
        time.sleep(0.5)
        alive = {pid for pid in below if pathlib.Path(f"/proc/{pid}/stat").exists() and
                 pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"}
        self.assertFalse(alive)
        self.assertFalse(list(temporary.iterdir()), "folders of the workers that were killed")
        self.assertFalse((self.folder / "out" / "verdict.json").exists())


if __name__ == "__main__":
    unittest.main()
