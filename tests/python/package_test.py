"""`pip install .`, as far as it goes without the network: with Debian's setuptools, and the module that is built."""
import os
import shutil
import subprocess
import sys
import unittest

import support


class Package(support.Case):
    def test_pip_installs_what_imports(self):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True,
                          timeout=support.LIMIT_S).returncode != 0:
            print("SKIPPED: no pip; Debian: python3-pip")
            sys.exit(77)
        source = self.folder / "source"  # pip leaves folders beside setup.py and the packages
        source.mkdir()
        for name in ("pyproject.toml", "setup.py", "CMakeLists.txt", "README.md", "LICENSE"):
            (source / name).symlink_to(support.ROOT / name)
        shutil.copytree(support.ROOT / "python" / "corun", source / "python" / "corun")
        target = self.folder / "installed"
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation",
                               "--no-deps", "--target", target, "."], cwd=source, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": "", "PIP_BREAK_SYSTEM_PACKAGES": "1"},
                              timeout=support.LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        code = ("import corun; print(corun.__file__); print(corun.__version__);"
                "print(len(corun.replay(policies=['fcfs'], replications=2, quiet=True).runs))")
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                               cwd=self.folder, env={**os.environ, "PYTHONPATH": str(target)},
                               timeout=support.LIMIT_S).stdout.split()
        self.assertTrue(shown[0].startswith(str(target)), shown)
        self.assertEqual(shown[2], "48")
        version = support.run("--version").split()[1]
        self.assertEqual(shown[1], version)
        self.assertTrue((target / f"corun-{version}.dist-info").is_dir())


if __name__ == "__main__":
    support.main()
