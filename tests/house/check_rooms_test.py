#!/usr/bin/python3
"""tools/check-rooms.py finds what it is for: each fault is planted in a small tree of its own."""
import pathlib
import subprocess
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools/check-rooms.py"


class CheckRooms(unittest.TestCase):
    def check(self, files, *options):
        """The checker's exit code and output on a tree of `files`."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            run = subprocess.run([CHECKER, folder, *options], capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr

    def finds(self, words, files, *options):
        code, said = self.check(files, *options)
        self.assertEqual(code, 1, said)
        self.assertIn(words, said)

    def test_a_tree_in_order_passes(self):
        code, said = self.check({"src/judge/judge.cpp": '#include "lower/lower.h"\n#include "base/error.h"\n#include <vector>\n'})
        self.assertEqual(code, 0, said)

    def test_an_upward_include_is_found_with_its_line(self):
        self.finds("src/base/error.cpp:2: room 'base' may not include 'card/session.h'",
                   {"src/base/error.cpp": '// Errors.\n#include "card/session.h"\n'})

    def test_an_include_between_neighbours_is_found(self):
        self.finds("room 'operator' may not include 'card/profile.h'", {"src/operator/attention.cpp": '#include "card/profile.h"\n'})

    def test_the_worker_may_not_include_the_compiler_or_rooms_above_it(self):
        self.finds("may not include the compiler's 'llvm/IR/Module.h'", {"src/card/worker/main.cpp": "#include <llvm/IR/Module.h>\n"})
        self.finds("may not include 'operator/operator.h'", {"src/card/cpu/run.cpp": '#include "operator/operator.h"\n'})

    def test_a_way_round_by_a_relative_path_is_found(self):
        self.finds("headers are named from src/", {"src/base/text.cpp": '#include "../port/hint.h"\n'})

    def test_a_folder_that_is_no_room_is_found(self):
        self.finds("'attic' is no room", {"src/attic/old.cpp": "\n"})

    def test_a_comment_is_no_include(self):
        code, said = self.check({"src/base/text.cpp": '// #include "port/hint.h"\n/*\n#include "port/hint.h"\n*/\n'})
        self.assertEqual(code, 0, said)

    def test_a_targets_name_outside_its_folder_is_found(self):
        self.finds("a target's name outside src/card/opencl", {"src/judge/judge.cpp": "auto p = clCreateProgramWithIL(c);\n"})

    def test_a_file_over_400_lines_is_found(self):
        self.finds("401 lines", {"src/base/long.cpp": "\n" * 401})

    def test_device_code_that_includes_a_room_is_found(self):
        self.finds("device code may not include", {"kernels/tile/tile.h": '#include "base/error.h"\n'})

    def test_a_tile_header_that_does_not_compile_alone_is_found(self):
        good = "#pragma once\n__device__ inline int twice(int x) { return 2 * x; }\n"
        headers = {"include/opsight-cuda/cuda_runtime.h": "#define __device__ __attribute__((device))\n"}
        code, said = self.check({**headers, "kernels/tile/good.h": good}, "--compile")
        self.assertEqual(code, 0, said)
        self.finds("does not compile alone", {**headers, "kernels/tile/bad.h": good.replace("int x", "tile x")}, "--compile")


if __name__ == "__main__":
    unittest.main()
