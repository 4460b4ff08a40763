"""Attention forward in float beside the fastest libraries, in turn, in one run.

    bench/setup-peers.sh                          # once: the peers, in build/peers
    build/peers/bin/python bench/attention_vs_libraries.py --build build/release

Each contender lives in a process of its own and computes only when told to, so one contender's threads never spin under
another's measurement. A round gives every contender a turn: one run that is not counted, then three of which the median
counts. A figure is the median over rounds of (peer's seconds / ours) within a round, with its 95 % interval by order
statistics, and the share of the peak that was measured in the same run. Outputs
are compared with a double-precision evaluation before anything is timed: whoever is wrong is not timed.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

SHAPES = ["1,8,8,1024,1024,64,64,0", "1,8,8,1024,1024,64,64,1", "1,8,8,4096,4096,64,64,0", "4,16,16,512,512,64,64,0",
          "1,8,8,1024,1024,128,128,0", "1,4,4,2048,2048,32,32,0"]
RUNS_A_TURN = 3
PEERS = ["pytorch", "onnxruntime", "openvino", "onednn"]


def load(folder, shape):
    B, H, Hkv, L, S, D, Dv, _ = shape
    read = lambda name, *dims: np.fromfile(f"{folder}/{name}.bin", np.float32).reshape(dims)
    return read("q", B, H, L, D), read("k", B, Hkv, S, D), read("v", B, Hkv, S, Dv)


def pytorch(q, k, v, causal, threads):
    import torch
    torch.set_num_threads(threads)
    q, k, v = (torch.from_numpy(x) for x in (q, k, v))
    attention = torch.nn.functional.scaled_dot_product_attention
    gqa = q.shape[1] != k.shape[1]
    def run():
        with torch.inference_mode():
            return attention(q, k, v, is_causal=bool(causal), enable_gqa=gqa)
    return f"PyTorch {torch.__version__}", run, lambda out: out.numpy()


def onnxruntime(q, k, v, causal, threads):
    import onnxruntime as ort
    from onnx import TensorProto, helper
    B, H, L, D = q.shape
    S = k.shape[2]
    flat = lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(B, x.shape[2], -1)
    node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["o"], domain="com.microsoft", num_heads=H,
                            unidirectional=int(bool(causal)))
    value = lambda name, length, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, [B, length, width])
    graph = helper.make_graph([node], "attention", [value("q", L, H * D), value("k", S, H * D),
                                                   value("v", S, H * v.shape[3])], [value("o", L, H * v.shape[3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 9
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {"q": flat(q), "k": flat(k), "v": flat(v)}
    def run():
        return session.run(None, feed)[0]
    def wait():  # its threads spin for a while after a run; let them fall asleep before the next contender's turn
        time.sleep(0.02)
    run.after = wait
    return f"onnxruntime {ort.__version__}", run, lambda out: out.reshape(B, L, H, -1).transpose(0, 2, 1, 3)


def openvino(q, k, v, causal, threads):
    import openvino as ov
    from openvino import opset13
    parameters = [opset13.parameter(x.shape, np.float32) for x in (q, k, v)]
    node = opset13.scaled_dot_product_attention(*parameters, causal=bool(causal))
    core = ov.Core()
    compiled = core.compile_model(ov.Model([node], parameters), "CPU", {
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.set_tensors({i: ov.Tensor(x) for i, x in enumerate((q, k, v))})
    def run():
        request.infer()
        return request.get_output_tensor(0).data
    return f"OpenVINO {ov.__version__.split('-')[0]}", run, lambda out: np.array(out)


def turn(run):
    """One run that is not counted, since caches are cold and threads asleep after the others' turns; then the median."""
    run()
    return float(np.median([run() for _ in range(RUNS_A_TURN)]))


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def serve(peer, folder, shape, threads):
    """The process of one Python peer: a line in, the seconds of a turn out."""
    q, k, v = load(folder, shape)
    name, run, convert = {"pytorch": pytorch, "onnxruntime": onnxruntime, "openvino": openvino}[peer](
        q, k, v, shape[7], threads)
    for _ in range(3):
        out = run()
    np.ascontiguousarray(convert(out)).astype(np.float32).tofile(f"{folder}/{peer}.out")
    print(name, flush=True)
    for _ in sys.stdin:
        seconds = turn(lambda: timed(run))
        getattr(run, "after", lambda: None)()
        print(f"{seconds:.9f}", flush=True)


class Contender:
    def __init__(self, key, command):
        self.key, self.seconds = key, []
        self.timed_by_run = key in ("opsight", "onednn")  # our runner answers each run; a Python peer a whole turn
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.name = self.process.stdout.readline().strip()
        if not self.name:
            self.process.wait()
            lines = self.process.stderr.read().strip().splitlines()
            raise RuntimeError(lines[-1] if lines else f"exit code {self.process.returncode}")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.key} died")
        return float(answer)

    def turn(self):
        return turn(lambda: self.ask("run")) if self.timed_by_run else self.ask("turn")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def reference_rows(folder, shape, rows):
    """Exact outputs of some (batch, head, query) rows."""
    q, k, v = (x.astype(np.float64) for x in load(folder, shape))
    for b, h, i in rows:
        kv = h // (shape[1] // shape[2])
        scores = k[b, kv] @ q[b, h, i] / np.sqrt(np.float64(shape[5]))
        if shape[7]:
            scores[i + 1:] = -np.inf
        p = np.exp(scores - scores.max())
        yield (b, h, i), p @ v[b, kv] / p.sum()


def largest_error(folder, contender, shape, rows):
    out = np.fromfile(f"{folder}/{contender.key}.out", np.float32).reshape(shape[0], shape[1], shape[3], shape[6])
    errors = [np.max(np.abs(out[at] - want) / np.maximum(1, np.abs(want))) for at, want in rows]
    return max(errors) if not np.isnan(errors).any() else float("inf")


def interval(values):
    """Median and its 95 % interval by order statistics (binomial, normal approximation)."""
    ordered, n = np.sort(values), len(values)
    spread = 0.98 * np.sqrt(n)
    return np.median(ordered), ordered[max(0, int(n / 2 - spread))], ordered[min(n - 1, int(np.ceil(n / 2 + spread)))]


def start(options, folder, shape):
    runner = f"{options.build}/bin/bench-attention-runner"
    arguments = [str(x) for x in shape]
    contenders = [Contender("opsight", [runner, "opsight", options.card, folder, *arguments])]
    for peer in options.peers:
        command = ([runner, "onednn", "cpu", folder, *arguments] if peer == "onednn" else
                   [sys.executable, __file__, "--serve", peer, folder, ",".join(arguments), str(options.threads)])
        try:
            contenders.append(Contender(peer, command))
        except RuntimeError as why:
            print(f"  {peer:<28} not compared: {why}")
    return contenders


def compare(options, shape):
    B, H, Hkv, L, S, D, Dv, causal = shape
    print(f"\nB={B} H={H} Hkv={Hkv} L={L} S={S} D={D} Dv={Dv} causal={causal}")
    with tempfile.TemporaryDirectory() as folder:
        generator = np.random.default_rng()
        for name, dims in (("q", (B, H, L, D)), ("k", (B, Hkv, S, D)), ("v", (B, Hkv, S, Dv))):
            generator.standard_normal(dims, np.float32).tofile(f"{folder}/{name}.bin")
        rows = list(reference_rows(folder, shape, [(int(generator.integers(B)), int(generator.integers(H)),
                                                    int(generator.integers(L))) for _ in range(64)]))
        contenders, right = start(options, folder, shape), []
        for contender in contenders:
            contender.error = largest_error(folder, contender, shape, rows)
            if contender.error <= 1e-5:
                right.append(contender)
            else:
                print(f"  {contender.name:<28} not timed: error {contender.error:.1e}")
        peaks, ends = [], time.monotonic() + options.seconds
        while len(peaks) < 5 or time.monotonic() < ends:
            peaks.append(contenders[0].ask("peak"))
            for contender in right:
                contender.seconds.append(contender.turn())
        for contender in contenders:
            contender.close()
        table(right, peaks, 2.0 * B * H * L * S * (D + Dv))


def table(right, peaks, flops):
    ours, peak = np.array(right[0].seconds), np.max(peaks)
    print(f"  {'':<28} {'GFLOP/s':>8} {'quartiles':>15} {'of peak':>8} {'error':>8}   Opsight is faster by")
    for contender in right:
        seconds = np.array(contender.seconds)
        rate = flops / np.median(seconds) * 1e-9
        low, high = flops / np.percentile(seconds, [75, 25]) * 1e-9
        line = f"  {contender.name[:28]:<28} {rate:8.1f} {low:7.1f}–{high:<7.1f} {rate / peak:8.1%} {contender.error:8.1e}"
        if contender is not right[0]:
            line += "   {:.2f} [{:.2f}, {:.2f}]".format(*interval(seconds / ours))
        print(line)
    print(f"  peak {peak:.1f} GFLOP/s (median {np.median(peaks):.1f}), {len(ours)} rounds; causal counts dense")


def main():
    if sys.argv[1:2] == ["--serve"]:
        peer, folder, shape, threads = sys.argv[2:]
        return serve(peer, folder, [int(x) for x in shape.split(",")], int(threads))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="the build folder that holds bin/")
    parser.add_argument("--card", default="cpu", help="the card our kernel runs on")
    parser.add_argument("--shape", action="append", help="B,H,Hkv,L,S,D,Dv,causal; repeatable")
    parser.add_argument("--seconds", type=float, default=15, help="of rounds per shape")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=PEERS)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    print(f"{model[0] if model else 'unknown processor'}, {options.threads} threads; load {os.getloadavg()[0]:.1f}")
    print("$", " ".join([os.path.relpath(sys.executable), *sys.argv]))
    for shape in options.shape or SHAPES:
        compare(options, [int(x) for x in shape.split(",")])


if __name__ == "__main__":
    main()
