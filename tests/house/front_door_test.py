#!/usr/bin/python3
"""./opsight as a user meets it: what it says when it cannot install, and that it starts at once with nothing to do.

Each test lays a small tree with the real scripts and, first in PATH, stand-ins for what they call, which note each call.
"""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534


class FrontDoor(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="opsight front door ")  # spaces, as in some users' paths
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.folder.chmod(0o777)
        self.root = self.folder / "a clone"
        self.stubs = self.folder / "stubs"
        self.calls = self.folder / "calls"
        for name in ("opsight", "check", "tools/setup.sh", "packages.txt", "CMakePresets.json", "CMakeLists.txt"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        for name in ("src", "cmake", "include", "kernels"):
            (self.root / name).mkdir()
        (self.root / "src/main.cpp").write_text("int main() {}\n")
        self.stub("dpkg-query", 'shift 2; for p in "$@"; do echo "installed $p"; done')
        for name in ("apt-get", "cmake"):
            self.stub(name, "")
        tool = 'echo "tool $PWD $*"'
        self.stub("ninja", f"""sleep 0.3; mkdir -p "$2/bin"; echo '[1/1] built'
            for t in opsight opsight-worker; do printf '#!/bin/bash\\n%s\\n' '{tool}' >"$2/bin/$t"; chmod +x "$2/bin/$t"; done""")

    def stub(self, name, body):
        self.stubs.mkdir(exist_ok=True)
        path = self.stubs / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >>"{self.calls}"\n{body}\n')
        path.chmod(0o755)

    def start(self, *arguments, program="opsight", **options):
        environment = {"PATH": f"{self.stubs}:/usr/bin:/bin:/sbin", "HOME": str(self.folder)}
        return subprocess.Popen([self.root / program, *arguments], env=environment, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=options.pop("cwd", "/"), **options)

    def run_it(self, *arguments, **options):
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def called(self, name):
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line for line in lines if line.split()[0] == name]

    def test_the_first_start_builds_and_then_becomes_the_tool(self):
        code, out, err = self.run_it("ops", "a b", cwd=self.folder)
        self.assertEqual((code, out), (0, f"tool {self.folder} ops a b\n"), err)
        self.assertEqual(len(self.called("ninja")), 1)
        self.assertEqual(self.called("apt-get"), [])

    def test_with_nothing_to_do_it_starts_at_once_and_calls_nobody(self):
        self.run_it()
        self.calls.unlink()
        times = []
        for _ in range(5):
            start = time.monotonic()
            code, out, err = self.run_it("--version")
            times.append(time.monotonic() - start)
            self.assertEqual((code, err), (0, ""))
        self.assertLess(min(times), 0.1)
        self.assertFalse(self.calls.exists(), "something was called")

    def test_a_symlink_to_it_works(self):
        link = self.folder / "link"
        link.symlink_to(self.root / "opsight")
        self.assertEqual(self.run_it("x", program=link)[:2], (0, "tool / x\n"))

    def test_an_edit_leads_to_a_build_even_when_it_carries_an_old_date(self):
        self.run_it()
        os.utime(self.root / "src/main.cpp", (1, 1))
        self.run_it()
        self.assertEqual(len(self.called("ninja")), 2)

    def test_a_file_taken_away_leads_to_a_build(self):
        self.run_it()
        (self.root / "src/main.cpp").unlink()
        self.run_it()
        self.assertEqual(len(self.called("ninja")), 2)

    def test_two_starts_at_once_build_once(self):
        both = [self.start("--version") for _ in range(2)]
        for process in both:
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (0, "tool / --version\n"), err)
        self.assertEqual(len(self.called("ninja")), 1)

    def test_a_build_that_fails_shows_why_and_does_not_run_an_older_tool(self):
        self.run_it()
        (self.root / "src/main.cpp").write_text("changed\n")
        self.stub("ninja", "echo 'FAILED: main.cpp.o'; echo 'main.cpp:1:1: error: no'; exit 1")
        code, out, err = self.run_it("--version")
        self.assertEqual((code, out), (70, ""))
        self.assertIn("main.cpp:1:1: error: no", err)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be somebody else")
    def test_without_root_it_prints_the_command_and_stops_with_2(self):
        self.stub("dpkg-query", "exit 1")
        self.stub("sudo", "exit 1")
        for path in [self.root, *self.root.rglob("*"), self.stubs]:
            path.chmod(path.stat().st_mode | stat.S_IROTH | (stat.S_IWOTH | stat.S_IXOTH if path.is_dir() else 0))
        code, out, err = self.run_it("--version", user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn("  apt-get update && apt-get install --yes --no-install-recommends ", err)
        self.assertIn(" clang-22 ", err)
        self.assertNotIn("llvm-22-tools", err, "only ./check needs it")
        self.assertEqual(self.called("apt-get"), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_with_root_it_says_what_it_installs_and_reports_a_failure_with_the_command(self):
        self.stub("dpkg-query", "exit 1")
        self.stub("apt-get", "echo 'E: Unable to locate package clang-22'; exit 100")
        code, out, err = self.run_it("--version")
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn("installing the Debian packages that are missing: ", err)
        self.assertIn("E: Unable to locate package clang-22", err)
        self.assertIn("apt-get install --yes --no-install-recommends", err)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_check_asks_for_the_packages_of_tests_too(self):
        self.stub("dpkg-query", "exit 1")
        self.stub("apt-get", "exit 100")
        code, out, err = self.run_it(program="check")
        self.assertEqual(code, 2, err)
        self.assertIn("llvm-22-tools", err)


if __name__ == "__main__":
    unittest.main()
