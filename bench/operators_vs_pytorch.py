"""Our tile kernels beside PyTorch's operators, in turn, in one run, from the artifacts that a user takes home.

    bench/setup-peers.sh                          # once: the peers, in build/peers
    build/peers/bin/python bench/operators_vs_pytorch.py --build build/release

As bench/attention_vs_libraries.py has it: a process a contender, one turn each in a round, the figure is the median over
rounds of (PyTorch's seconds / ours) with its 95 % interval. Outputs are compared with double precision before anything is
timed. Beside the ratio stands the rate: of products with the share of the peak measured in the same rounds, of operators on
rows in bytes a second that each reads and writes once.
"""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples" / "use")]
from attention_torch import Port, address  # noqa: E402
from attention_vs_libraries import Contender, interval, turn, timed  # noqa: E402
import ctypes  # noqa: E402

functional = torch.nn.functional


def rows(case):
    return torch.randn(case["N"], case["C"])


def softmax(case):
    x = rows(case)
    return {"input": x}, {"output": x.shape}, lambda t: [torch.softmax(t["input"], -1)], {}


def layernorm(case):
    x, w, b = rows(case), torch.randn(case["C"]), torch.randn(case["C"])
    run = lambda t: [functional.layer_norm(t["input"], (case["C"],), t["weight"], t["bias"])]
    return {"input": x, "weight": w, "bias": b}, {"output": x.shape, "mean": x.shape[:1], "rstd": x.shape[:1]}, run, {"eps": 1e-5}


def rmsnorm(case):
    x, w = rows(case), torch.randn(case["C"])
    run = lambda t: [functional.rms_norm(t["input"], (case["C"],), t["weight"], 1e-5)]
    return {"input": x, "weight": w}, {"output": x.shape, "rstd": x.shape[:1]}, run, {"eps": 1e-5}


def matmul(case):
    M, N, K = case["M"], case["N"], case["K"]
    given = {"a": torch.randn(M, K), "b": torch.randn(K, N) / math.sqrt(K), "bias": torch.randn(N)}
    run = lambda t: [functional.gelu(torch.addmm(t["bias"], t["a"], t["b"]))]
    return given, {"output": (M, N)}, run, {}


def attention_backward(case):
    B, H, L, D = (case[symbol] for symbol in "BHLD")
    q, k, v, g = (torch.randn(B, H, L, D) for _ in range(4))
    scores = (q.double() @ k.double().transpose(2, 3)) / math.sqrt(D)
    given = {"query": q, "key": k, "value": v, "grad_output": g, "output": (scores.softmax(-1) @ v.double()).float(),
             "lse": scores.logsumexp(-1).float()}

    def prepared(t):
        leaves = [t[name].detach().requires_grad_() for name in ("query", "key", "value")]
        out = functional.scaled_dot_product_attention(*leaves)
        return lambda: list(torch.autograd.grad(out, leaves, t["grad_output"], retain_graph=True))

    prepared.is_prepared = True
    shapes = {"grad_query": q.shape, "grad_key": q.shape, "grad_value": q.shape}
    return given, shapes, prepared, {"scale": 1 / math.sqrt(D), "causal": 0}


# Name, how it is made, the kernel's port file, options, sizes.
BENCHES = [
    ("attention backward", attention_backward, "attention/flash_backward_simd", "", dict(B=1, H=8, Hkv=8, L=1024, S=1024, D=64, Dv=64)),
    ("attention backward", attention_backward, "attention/flash_backward_simd", "", dict(B=1, H=8, Hkv=8, L=1024, S=1024, D=128, Dv=128)),
    ("softmax", softmax, "softmax/softmax_simd", "", dict(N=8192, C=1024)),
    ("softmax", softmax, "softmax/softmax_simd", "", dict(N=1024, C=8192)),
    ("layernorm", layernorm, "layernorm/layernorm_simd", "", dict(N=8192, C=1024)),
    ("rmsnorm", rmsnorm, "rmsnorm/rmsnorm_simd", "", dict(N=8192, C=1024)),
    ("matmul bias gelu", matmul, "matmul/matmul_simd", 'epilogue = "bias-gelu"', dict(M=1024, N=1024, K=1024)),
    ("matmul bias gelu", matmul, "matmul/matmul_simd", 'epilogue = "bias-gelu"', dict(M=2048, N=2048, K=2048)),
]


def work(name, c):
    """Operations, and bytes where those are what counts."""
    if "L" in c:
        return 10 * c["B"] * c["H"] * c["L"] * c["S"] * c["D"], None
    if "K" in c:
        return 2 * c["M"] * c["N"] * c["K"], None
    return None, 8 * c["N"] * c["C"]


def problem(number):
    torch.manual_seed(number)
    return BENCHES[number][1](BENCHES[number][4])


def build(options, number, folder):
    """The artifact, by the judge, which also says whether it is right."""
    _, _, kernel, chosen, case = BENCHES[number]
    source = ROOT / "kernels" / kernel
    text = source.with_suffix(".toml").read_text().replace(f'"{source.name}.cu"', f'"{source}.cu"')
    sizes = ",".join(f"{symbol}={size}" for symbol, size in case.items())
    limits = "[limits]\nD = %d\nDv = %d\n" % (case["D"], case["Dv"]) if "D" in case else ""
    path = pathlib.Path(folder) / f"{number}.toml"
    path.write_text(f"{text}\n[options]\n{chosen}\n{limits}")
    out = pathlib.Path(folder) / f"{number}"
    subprocess.run([f"{options.build}/bin/opsight", "verify", path, "--accuracy-only", "--quiet", "--case", sizes, "-o", out],
                   check=True, stdout=subprocess.DEVNULL)
    return out / "artifact"


def serve(contender, number, artifact, threads):
    """One contender: writes its outputs, then answers each line with the seconds of a turn."""
    given, shapes, peer, scalars = problem(number)
    torch.set_num_threads(threads)
    case = BENCHES[number][4]
    if contender == "pytorch":
        with torch.inference_mode(not getattr(peer, "is_prepared", False)):
            run = peer(given) if getattr(peer, "is_prepared", False) else lambda: peer(given)
            answer(f"PyTorch {torch.__version__}", run, run())
        return
    port, outputs = Port(artifact), {name: torch.empty(shape) for name, shape in shapes.items()}
    values = {name: ctypes.c_int32(size) for name, size in case.items()}
    integers = {p["name"] for p in port.manifest["parameters"] if p["bytes"] == 4}
    values |= {name: ctypes.c_int32(value) if name == "causal" else ctypes.c_float(value) for name, value in scalars.items()}
    values |= {name: address(t) for name, t in {**given, **outputs}.items()}
    values |= {name: value for name, value in bound(port, values).items() if name in integers or name not in values}
    run = lambda: port(values, case)
    run()
    answer("Opsight", run, list(outputs.values()))


def bound(port, values):
    """Parameters that are named otherwise than what they receive."""
    return {name: values[text] for name, text in port.manifest["arguments"].items() if text in values}


def answer(name, run, outputs):
    np.savez(os.environ["OPSIGHT_BENCH_OUT"], *[output.detach().numpy() for output in outputs])
    print(name, flush=True)
    for _ in sys.stdin:
        print(f"{turn(lambda: timed(run)):.9f}", flush=True)


def exact(number):
    """In double precision, by PyTorch."""
    given, _, peer, _ = problem(number)
    doubles = {name: t.double() for name, t in given.items()}
    got = peer(doubles)
    return [t.numpy() for t in (got() if callable(got) else got)]


def start(options, contender, number, artifact, folder):
    os.environ["OPSIGHT_BENCH_OUT"] = f"{folder}/{contender}.npz"
    return Contender(contender, [sys.executable, __file__, "--serve", contender, str(number), str(artifact), str(options.threads)])


def peak_runner(options, folder):
    """Measures the machine's peak when told to, in a process of its own; the attention it is started with is not run again."""
    for name in "qkv":
        np.zeros(16 * 64, np.float32).tofile(f"{folder}/{name}.bin")
    shape = ["1", "1", "1", "16", "16", "64", "64", "0"]
    return Contender("peak", [f"{options.build}/bin/bench-attention-runner", "opsight", "cpu", folder, *shape])


def compare(options, number):
    name, *_, case = BENCHES[number]
    operations, size = work(name, case)
    with tempfile.TemporaryDirectory() as folder:
        artifact = build(options, number, folder)
        ours, peer = (start(options, each, number, artifact, folder) for each in ("opsight", "pytorch"))
        want = exact(number)
        errors = []
        for contender in (ours, peer):
            got = [array for _, array in np.load(f"{folder}/{contender.key}.npz").items()]
            errors.append(max(np.max(np.abs(g - w)) / np.max(np.abs(w)) for g, w in zip(got, want)))
        peaks, ends = [], time.monotonic() + options.seconds
        runner = peak_runner(options, folder) if operations else None
        while len(peer.seconds) < 5 or time.monotonic() < ends:
            if runner:
                peaks.append(runner.ask("peak") * 1e9)
            for contender in (ours, peer):
                contender.seconds.append(contender.ask("turn"))
        for contender in (ours, peer, runner):
            if contender:
                contender.close()
    ratio, low, high = interval(np.array(peer.seconds) / np.array(ours.seconds))
    rate = (operations or size) / np.median(ours.seconds)
    share = f" ({100 * np.median(operations / np.array(ours.seconds) / np.array(peaks)):.0f} %)" if operations else ""
    sizes = " ".join(f"{symbol}={value}" for symbol, value in case.items() if symbol not in ("Hkv", "S", "Dv"))
    print(f"| {name}, {sizes} | {rate / 1e9:.0f} {'GFLOP/s' if operations else 'GB/s'}{share} | "
          f"{ratio:.2f} [{low:.2f}, {high:.2f}] | {errors[0]:.1e} | {errors[1]:.1e} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="benches whose name holds this")
    parser.add_argument("--serve", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve[0], int(options.serve[1]), options.serve[2], int(options.serve[3]))
        return
    print(f"PyTorch {torch.__version__}, {options.threads} threads; errors relative to the largest element\n")
    print("| operator | Opsight (share of peak) | times as fast as PyTorch | our error | its error |\n|---|---|---|---|---|")
    for number, bench in enumerate(BENCHES):
        if options.only in bench[0]:
            compare(options, number)


if __name__ == "__main__":
    main()
