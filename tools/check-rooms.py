#!/usr/bin/python3
"""Proves what docs/architecture.md says of the rooms: no room includes upward, LLVM stays in the rooms that read or write IR,
a target's name stays in its folder, no file outgrows 400 lines, and each header of the tile library compiles alone.

Usage: tools/check-rooms.py [ROOT] [--compile]; prints "file:line: what" for each fault and ends with 1 when there is one.
"""
import pathlib
import re
import subprocess
import sys

BELOW_JUDGE = {"base", "card", "operator", "cuda", "lower"}
BELOW_PORT = BELOW_JUDGE | {"judge", "sight"}
# Room: the other rooms it may include.
ROOMS = {
    "base": set(),
    "card": {"base"},
    "operator": {"base"},
    "cuda": {"base", "card", "operator"},
    "lower": {"base", "card", "operator", "cuda"},
    "judge": BELOW_JUDGE,
    "sight": BELOW_JUDGE | {"judge"},
    "port": BELOW_PORT,
    "report": BELOW_PORT | {"port"},
    "mcp": BELOW_PORT | {"port"},
    "cli": BELOW_PORT | {"port", "report", "mcp"},
}
# Who reads or writes IR. The worker links card and base alone, and a driver in it may bring its own LLVM.
COMPILER_ROOMS = {"cuda", "lower", "sight", "port", "cli"}
COMPILER_HEADER = re.compile(r"(llvm|clang|clang-c|llvm-c|lld)/")
# A target's name, as code (not in comments), and the folders of src/ it may appear in.
TARGET_NAMES = {
    r"CL/cl\w*\.h": ["card/opencl"],
    r"clCreate\w+": ["card/opencl"],
    r"dnnl": ["card/cpu", "card/worker"],
    r"spirv-tools/\w+": ["lower/spirv"],
}
MOST_LINES = 400
SOURCES = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def code_lines(text):
    """Lines without comments, numbered from 1; a block comment leaves its line ends, so that numbers stay right."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    for number, line in enumerate(text.split("\n"), 1):
        yield number, re.sub(r"//.*", "", line)


def room_faults(path, room, inside):
    """`inside` is the path below src/."""
    for number, line in code_lines(path.read_text()):
        for name, folders in TARGET_NAMES.items():
            if re.search(rf"(?<![\w/]){name}", line) and not any(inside.startswith(folder + "/") for folder in folders):
                yield f"{path}:{number}: a target's name outside {' and '.join('src/' + f for f in folders)}: {line.strip()}"
        include = INCLUDE.match(line)
        if not include:
            continue
        header = include[1]
        other = header.split("/")[0]
        if header.startswith(".."):
            yield f"{path}:{number}: includes '{header}'; headers are named from src/"
        elif other in ROOMS and other != room and other not in ROOMS[room]:
            yield f"{path}:{number}: room '{room}' may not include '{header}'"
        elif COMPILER_HEADER.match(header) and room not in COMPILER_ROOMS:
            yield f"{path}:{number}: room '{room}' may not include the compiler's '{header}'"


def include_faults(root):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cpp", ".inc"}:
            continue
        inside = path.relative_to(root / "src").as_posix()
        room = inside.split("/")[0]
        if room not in ROOMS:
            yield f"{path}:1: '{room}' is no room; the table is in tools/check-rooms.py and docs/architecture.md"
        else:
            yield from room_faults(path, room, inside)


def size_faults(root):
    files = [p for folder in ("src", "kernels", "include", "tools", "tests", "bench") for p in sorted((root / folder).rglob("*"))]
    for path in files:
        if path.suffix in SOURCES:
            lines = path.read_text().count("\n")
            if lines > MOST_LINES:
                yield f"{path}:{lines}: {lines} lines; a file that outgrows {MOST_LINES} is split"


def tile_faults(root):
    """Device code includes device code only; with LLVM's own headers for CUDA it would not be what users' kernels see."""
    for path in sorted((root / "kernels").rglob("*.h")) + sorted((root / "kernels").rglob("*.cu*")):
        for number, line in code_lines(path.read_text()):
            include = INCLUDE.match(line)
            if include and include[1].split("/")[0] in ROOMS:
                yield f"{path}:{number}: device code may not include '{include[1]}' of src/"


def compile_faults(root):
    flags = ["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-fsyntax-only",
             "-std=c++20", "-Wall", "-Wno-unused-function", "-Wno-pragma-once-outside-header", "-Wno-unknown-cuda-version",
             f"-I{root / 'include/opsight-cuda'}", f"-I{root / 'kernels'}", "-include", "cuda_runtime.h"]
    for path in sorted((root / "kernels/tile").glob("*.h")):
        run = subprocess.run(["clang++-22", *flags, path], capture_output=True, text=True)
        if run.returncode:
            yield f"{path}:1: does not compile alone\n{run.stderr.rstrip()}"


def main(arguments):
    compile_too = "--compile" in arguments
    folders = [a for a in arguments if not a.startswith("-")]
    root = pathlib.Path(folders[0] if folders else pathlib.Path(__file__).parent.parent).resolve()
    checks = [include_faults, size_faults, tile_faults] + ([compile_faults] if compile_too else [])
    found = [fault for check in checks for fault in check(root)]
    print("\n".join(found or [f"the rooms of {root} are in order"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
