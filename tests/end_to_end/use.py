#!/usr/bin/python3
"""What a user does with an artifact, as examples/use/README.md shows it: use.py cpp | torch | opencl. Exit code 77: what
the way needs (PyTorch, a driver that takes SPIR-V) is not installed. $OPSIGHT is the tool."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

OPSIGHT = os.environ.get("OPSIGHT", "opsight")
ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "use"
SKIPPED = 77


def run(*command, **more):
    done = subprocess.run([str(each) for each in command], stdin=subprocess.DEVNULL, timeout=240, **more)
    if done.returncode:
        sys.exit(done.returncode)


def port(folder, *options):
    run(OPSIGHT, *options, "--accuracy-only", "--quiet", "-o", folder / "out", stdout=subprocess.DEVNULL)
    return folder / "out" / "artifact"


def cpp(folder):
    artifact = port(folder, "port", ROOT / "examples" / "sdpa" / "port.toml")
    run("clang++-22", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", EXAMPLES / "attention.cpp", f"-I{artifact}",
        f"-L{artifact}", "-lopsight_flash_simd_64_64_4", f"-Wl,-rpath,{artifact}", "-o", folder / "attention")
    run(folder / "attention")


def torch(folder):
    python = os.environ.get("OPSIGHT_TORCH_PYTHON", ROOT / "build" / "peers" / "bin" / "python")
    if not pathlib.Path(python).exists() or subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
        print("skipped: no PyTorch here; bench/setup-peers.sh installs it")
        sys.exit(SKIPPED)
    artifact = port(folder, "port", ROOT / "examples" / "sdpa" / "port.toml")
    run(python, EXAMPLES / "attention_torch.py", artifact)


def opencl(folder):
    driver = pathlib.Path(os.environ.get("OPSIGHT_INTEL_OPENCL", ROOT / "build" / "intel-opencl")) / "lib"
    if not (driver / "libintelocl.so").exists():
        print("skipped: no driver here that takes SPIR-V; tools/setup-intel-opencl.sh installs one")
        sys.exit(SKIPPED)
    # As the port has it, but in a few cases: what is looked at here is what a user does with it afterwards.
    kernel = ROOT / "kernels" / "attention"
    text = (kernel / "flash_simt.toml").read_text().replace('"flash_simt.cu"', f'"{kernel}/flash_simt.cu"')
    (folder / "port.toml").write_text(text + "\n[limits]\nD = 64\nDv = 64\nL = [64, 70]\n")
    artifact = port(folder, "verify", folder / "port.toml", "--card", "opencl:intel")
    run("clang++-22", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", EXAMPLES / "attention_opencl.cpp", "-lOpenCL", "-o",
        folder / "attention_opencl")
    (folder / "vendors").mkdir()
    (folder / "vendors" / "intel.icd").write_text(f"{driver}/libintelocl.so\n")
    entry = json.loads((artifact / "manifest.json").read_text())["entry"]
    run(folder / "attention_opencl", artifact / "kernel.spv", entry,
        env={**os.environ, "OCL_ICD_VENDORS": str(folder / "vendors"), "LD_LIBRARY_PATH": str(driver)})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="opsight-use-") as holder:
        {"cpp": cpp, "torch": torch, "opencl": opencl}[sys.argv[1]](pathlib.Path(holder))
