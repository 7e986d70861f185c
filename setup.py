"""Builds the module and the program of the Python package with CMake, for pip. pyproject.toml has the rest.

CORUN_BUILD_DIR=DIR takes those that are built there (build/release) instead of compiling them again.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"^project\(corun VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


class ByCMake(build_ext):
    def build_extension(self, extension):
        folder = os.environ.get("CORUN_BUILD_DIR")
        build = pathlib.Path(folder or self.build_temp).resolve()
        if not folder:
            subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                            "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCORUN_UNITY=ON", "-DCORUN_TESTS=OFF",
                            "-DCORUN_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
            subprocess.run(["cmake", "--build", build, "--target", "corun_python", "corun"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        for built, into in ((build / "python" / "corun" / target.name, target),
                            (build / "corun", target.parent / "bin" / "corun")):
            if not built.exists():
                sys.exit(f"{built}: no such file; build the targets corun and corun_python with {sys.executable}")
            into.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(built, into)


setup(version=VERSION, ext_modules=[Extension("corun._corun", [])], cmdclass={"build_ext": ByCMake})
