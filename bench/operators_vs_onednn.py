#!/usr/bin/python3
"""The tile kernels beside attention against oneDNN, as the judge times them: side by side in one worker, in turn.

    bench/operators_vs_onednn.py [--opsight build/release/bin/opsight] [--only softmax]

A figure is the median of the pairs' ratios (oneDNN's seconds / ours) with its 95 % interval; over 1 means that ours is
faster. GB/s count every operand once. Who is not right is not timed; of rmsnorm oneDNN has nothing to compare with.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROWS = [f"N={n},C={c}" for n, c in ((8192, 1024), (8192, 768), (256, 32768))]
SQUARES = [f"M={n},N={n},K={n}" for n in (512, 1024, 2048)]
# Operator, options, sizes, matrices that pass through memory.
RUNS = [("softmax", {}, ROWS, 2), ("softmax", {"log": "yes"}, ROWS[:1], 2), ("softmax_backward", {}, ROWS, 3),
        ("layernorm", {}, ROWS, 2), ("layernorm_backward", {}, ROWS[:2], 3), ("matmul", {}, SQUARES, 3),
        ("matmul", {"epilogue": "bias-gelu"}, SQUARES[1:], 3), ("matmul", {"transpose_b": "yes"}, SQUARES[1:2], 3)]


def verdict_of(opsight, operator, options, case, folder):
    source = next((ROOT / "kernels").glob(f"*/{operator}_simd.cu"))
    text = source.with_suffix(".toml").read_text().replace(f'"{source.name}"', f'"{source}"')
    port = pathlib.Path(folder) / "port.toml"
    port.write_text(text + "\n[options]\n" + "".join(f'{key} = "{value}"\n' for key, value in options.items()))
    run = subprocess.run([opsight, "verify", port, "--case", case, "--min-speed", "0.01", "--json", "--quiet", "-o", folder],
                         capture_output=True, text=True, env={"OPSIGHT_ROOT": str(ROOT), **os.environ})
    try:
        return json.loads(run.stdout), ""
    except ValueError:
        return None, run.stderr.strip().splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opsight", default=str(ROOT / "build/release/bin/opsight"))
    parser.add_argument("--only", default="", help="operators whose name holds this")
    arguments = parser.parse_args()
    for operator, options, cases, matrices in RUNS:
        if arguments.only not in operator:
            continue
        for case in cases:
            with tempfile.TemporaryDirectory(prefix="opsight-bench-") as folder:
                verdict, why = verdict_of(arguments.opsight, operator, options, case, folder)
            what = f"{operator} {' '.join(options.values())}".strip()
            if not verdict or not verdict.get("speed") or not verdict["speed"].get("ratio"):
                print(f"{what:28} {case:22} not timed: {why or verdict['reasons']}", flush=True)
                continue
            speed = verdict["speed"]
            sizes = [int(part.split("=")[1]) for part in case.split(",")]
            seconds = speed["cases"][0]["candidate_seconds"]
            moved = f"{4 * matrices * sizes[0] * sizes[1] / seconds / 1e9:6.1f} GB/s" if operator != "matmul" else \
                f"{speed['gflops']:6.0f} GFLOP/s, {100 * speed['fraction_of_peak']:.0f} % of peak"
            print(f"{what:28} {case:22} {speed['ratio']:5.2f} [{speed['low']:.2f}, {speed['high']:.2f}]  {moved}", flush=True)


if __name__ == "__main__":
    main()
