#!/usr/bin/python3
"""Runs `opsight verify` on kernels whose verdict is known, and says where the verdict is another.

A kernel's first lines hold all there is to know about it:
    // What it does, and what is wrong with it.
    // expect: PASS                                   every case within its limits is right
    // expect: FAIL error|nan phase=scores|maximum    at least one of these reasons, and one of these phases
    // flags: --timeout 3                             more options of the command line
    //| kernel = "attention"                          the port file, without operator and source
    // operator: softmax                              where it is not attention
and a line that ends in `found: race` is where the watched run must find that fault. A file may hold several kernels, one
right and each other with a fault, which the macro VARIANT tells apart; each then says what is expected of it:
    // variant no_maximum = 1: FAIL nan phase=maximum
`// cards: cpu` keeps such a file's tests to that card.
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


EXPECTATION = r"(PASS|FAIL)(?: ([\w|]+))?(?: phase=([\w|]+))?$"


class Kernel:
    def __init__(self, path, text, expected, variant=None):
        """`expected`: verdict, reasons and phases as EXPECTATION matches them; `variant`: its name and number."""
        self.path = path
        self.name = f"{path.parent.name}/{path.stem}" + (f".{variant[0]}" if variant else "")
        self.verdict = expected[0]
        self.reasons = set((expected[1] or "").split("|")) - {""}
        self.phases = set((expected[2] or "").split("|")) - {""}
        self.lines = [(kind, number) for number, line in enumerate(text.splitlines(), 1)
                      for kind in re.findall(r"found: (\w+)$", line)]
        flags = re.search(r"^// flags: (.*)$", text, re.M)
        self.flags = shlex.split(flags[1]) if flags else []
        port = "\n".join(re.findall(r"^//\| ?(.*)$", text, re.M))
        operator = re.search(r"^// operator: (\w+)$", text, re.M)
        self.port = (f'operator = "{operator[1] if operator else "scaled_dot_product_attention"}"\n'
                     f'source = {json.dumps(str(self.path))}\n{port}\n')
        if variant:
            self.port += f"[defines]\nVARIANT = {variant[1]}\n"


def kernels_of(path, wanted):
    """The kernels of a file; of its variants, only the one that is `wanted`, if any is."""
    path = pathlib.Path(path).resolve()
    text = path.read_text()
    if expect := re.search(rf"^// expect: {EXPECTATION}", text, re.M):
        return [Kernel(path, text, expect.groups())]
    variants = re.findall(rf"^// variant (\w+) = (\d+): {EXPECTATION}", text, re.M)
    chosen = [Kernel(path, text, rest, (name, number)) for name, number, *rest in variants if wanted in (None, name)]
    if not chosen:
        sys.exit(f"{path}: no '// expect:' line and no variant {wanted or ''} that can be read")
    return chosen


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
        print(f"{kernel.name:52} {'none':4} {seconds:6.1f} s  {state}")
        return
    accuracy = verdict["accuracy"]
    failed = sum(not case["pass"] for case in accuracy["cases"])
    what = f"error {accuracy['max_error']}" if kernel.verdict == "PASS" else " ".join(verdict["reasons"] + sorted(f"({p})" for p in phases(verdict)))
    print(f"{kernel.name:52} {verdict['verdict']:4} {len(accuracy['cases']):3} cases {failed:3} failed {seconds:6.1f} s  {what}  {state}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opsight", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for port files and verdicts")
    parser.add_argument("--card", default="opencl:pocl")
    parser.add_argument("--seed", type=int, help="of the data, to see that a verdict does not hang on one")
    parser.add_argument("--variant", help="the only one of a file's to judge")
    parser.add_argument("kernels", nargs="+")
    arguments = parser.parse_args()
    bad = 0
    for kernel in [kernel for path in arguments.kernels for kernel in kernels_of(path, arguments.variant)]:
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
            print(f"    again: {verdict['replay']}" if verdict else "    there is no verdict to replay")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
