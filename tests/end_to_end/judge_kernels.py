#!/usr/bin/python3
"""Runs `opsight verify` on kernels whose verdict is known, and says where the verdict is another.

A kernel's first lines hold all there is to know about it:
    // What it does, and what is wrong with it.
    // expect: PASS                                   every case within its limits is right
    // expect: FAIL error|nan phase=scores|maximum    at least one of these reasons, and one of these phases
    // flags: --timeout 3                             more options of the command line
    //| kernel = "attention"                          the port file, without operator and source
and a line that ends in `found: race` is where the watched run must find that fault.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

CODES = {"PASS": 0, "FAIL": 1}
SKIPPED = 77  # ctest counts it as a skip


class Kernel:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.name = f"{self.path.parent.name}/{self.path.stem}"
        text = self.path.read_text()
        expect = re.search(r"^// expect: (PASS|FAIL)(?: ([\w|]+))?(?: phase=([\w|]+))?$", text, re.M)
        if not expect:
            sys.exit(f"{path}: no '// expect:' line that can be read")
        self.verdict = expect[1]
        self.reasons = set((expect[2] or "").split("|")) - {""}
        self.phases = set((expect[3] or "").split("|")) - {""}
        self.lines = [(kind, number) for number, line in enumerate(text.splitlines(), 1)
                      for kind in re.findall(r"found: (\w+)$", line)]
        flags = re.search(r"^// flags: (.*)$", text, re.M)
        self.flags = shlex.split(flags[1]) if flags else []
        port = "\n".join(re.findall(r"^//\| ?(.*)$", text, re.M))
        self.port = f'operator = "scaled_dot_product_attention"\nsource = {json.dumps(str(self.path))}\n{port}\n'


def judge(kernel, arguments):
    """The verdict (None when there is none), what standard error says, the exit code and the seconds it took."""
    folder = arguments.work / kernel.name
    folder.mkdir(parents=True, exist_ok=True)
    port = folder / "port.toml"
    port.write_text(kernel.port)
    command = [arguments.opsight, "verify", port, "--accuracy-only", "--json", "--card", arguments.card]
    start = time.monotonic()
    if arguments.seed is not None:
        command += ["--seed", str(arguments.seed)]
    run = subprocess.run([*command, "-o", folder / "out", *kernel.flags], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    try:
        verdict = json.loads(run.stdout)
    except ValueError:
        verdict = None
    return verdict, run.stderr, run.returncode, seconds


def faults(kernel, verdict, code):
    """What is not as the kernel's first lines expect it; empty when all is."""
    if verdict is None or "accuracy" not in verdict:
        return [f"no verdict; exit code {code}"]
    found = []
    cases = verdict["accuracy"]["cases"]
    if verdict["verdict"] != kernel.verdict:
        found.append(f"the verdict is {verdict['verdict']}")
    if code != CODES[kernel.verdict]:
        found.append(f"the exit code is {code}")
    if kernel.verdict == "PASS":
        found += [f"case {case['name']} failed" for case in cases if not case["pass"]]
        if len(cases) < 10:
            found.append(f"only {len(cases)} cases were tried")
        return found
    if kernel.reasons and not kernel.reasons & set(verdict["reasons"]):
        found.append("none of the expected reasons: " + " ".join(sorted(kernel.reasons)))
    for kind, line in kernel.lines:
        details = [check["detail"] for check in verdict["checks"] if check["name"] == kind and check["pass"] is False]
        if not any(f"{kernel.path.name}:{line}:" in detail for detail in details):
            found.append(f"{kind} was not found in line {line}")
    if kernel.phases and not kernel.phases & phases(verdict):
        found.append("none of the expected phases: " + " ".join(sorted(kernel.phases)))
    return found


def phases(verdict):
    return {(case.get("where") or {}).get("phase") for case in verdict["accuracy"]["cases"] if not case["pass"]} - {None, ""}


def show(kernel, verdict, seconds, found):
    state = "ok" if not found else "NOT AS EXPECTED"
    if verdict is None or "accuracy" not in verdict:
        print(f"{kernel.name:36} {'none':4} {seconds:6.1f} s  {state}")
        return
    accuracy = verdict["accuracy"]
    failed = sum(not case["pass"] for case in accuracy["cases"])
    what = f"error {accuracy['max_error']}" if kernel.verdict == "PASS" else " ".join(verdict["reasons"] + sorted(f"({p})" for p in phases(verdict)))
    print(f"{kernel.name:36} {verdict['verdict']:4} {len(accuracy['cases']):3} cases {failed:3} failed {seconds:6.1f} s  {what}  {state}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opsight", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for port files and verdicts")
    parser.add_argument("--card", default="opencl:pocl")
    parser.add_argument("--seed", type=int, help="of the data, to see that a verdict does not hang on one")
    parser.add_argument("kernels", nargs="+")
    arguments = parser.parse_args()
    bad = 0
    for path in arguments.kernels:
        kernel = Kernel(path)
        verdict, messages, code, seconds = judge(kernel, arguments)
        if code == 4 and verdict is None:
            print(f"{kernel.name}: skipped, no verdict is possible here: {messages.strip()}")
            return SKIPPED
        found = faults(kernel, verdict, code)
        show(kernel, verdict, seconds, found)
        for fault in found:
            print(f"    {fault}")
        if found:
            bad += 1
            print("    " + "\n    ".join(messages.strip().splitlines()[-12:]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
