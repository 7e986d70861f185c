#!/usr/bin/python3
"""A wheel of the Python package and the program, with the libraries that both need, and the sources as pip takes them.

usage: wheel.py BUILD_FOLDER INTO
       wheel.py --sources INTO      (INTO/corun-VERSION.tar.gz, of the commit that is checked out)

Takes what the targets corun and corun_python have built in BUILD_FOLDER, and writes
INTO/corun-VERSION-cpNNN-cpNNN-manylinux_X_Y_MACHINE.whl, X.Y being the C library's version of this machine: it runs
with that version or a later one. Libraries lie in corun.libs/, with the copyright file of the Debian package that they
come from. The C and C++ libraries are not among them.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT_S = 600
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so")


def output_of(*command, **given):
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False, **given)
    if done.returncode != 0:
        sys.exit(f"wheel: {' '.join(map(str, command[:3]))} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def libraries_of(file):
    """{name: path} of the shared libraries that the file needs, those that these need among them."""
    found = {}
    for name, path in re.findall(r"^\s*(\S+) => (\S+|not found)", output_of("ldd", file), re.M):
        if OF_THE_SYSTEM.match(name):
            continue
        if not path.startswith("/"):
            sys.exit(f"wheel: {name}, which {file} needs, is not installed")
        found[name] = pathlib.Path(path).resolve()
    return found


def copy_licence(library, into):
    # A package lists its files as /lib/... or as /usr/lib/..., which are the same folder.
    names = [library, pathlib.Path("/") / library.relative_to("/usr")] if library.is_relative_to("/usr") else [library]
    told = [subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, timeout=LIMIT_S, check=False).stdout
            for name in names]
    owner = "".join(told).split(":", 1)[0]
    copyright_file = pathlib.Path("/usr/share/doc") / owner / "copyright"
    if owner and copyright_file.exists():
        shutil.copyfile(copyright_file, into / f"{owner}.copyright")


def write_sources(into):
    with tempfile.TemporaryDirectory() as name:
        archive = pathlib.Path(name) / "sources.tar"
        output_of("git", "-C", ROOT, "archive", "--output", archive, "HEAD")
        tree = pathlib.Path(name) / "tree"
        shutil.unpack_archive(archive, tree)
        (tree / "MANIFEST.in").write_text("graft .\n")
        output_of(sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", into, cwd=tree)
    print(max(into.glob("corun-*.tar.gz"), key=lambda path: path.stat().st_mtime))


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--sources":
        return write_sources(pathlib.Path(sys.argv[2]).resolve())
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, into = (pathlib.Path(folder).resolve() for folder in sys.argv[1:])
    for needed in ("patchelf", "ldd", "dpkg"):
        if shutil.which(needed) is None:
            sys.exit(f"wheel: {needed} is not installed; on Debian: apt-get install patchelf")
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "source"  # pip leaves folders beside setup.py
        source.mkdir()
        for file in ("pyproject.toml", "setup.py", "CMakeLists.txt", "README.md", "LICENSE"):
            shutil.copyfile(ROOT / file, source / file)
        shutil.copytree(ROOT / "python/corun", source / "python/corun", ignore=shutil.ignore_patterns("__pycache__"))
        (source / "setup.cfg").write_text("[bdist_wheel]\ncompression = stored\n")  # it is packed again below
        output_of(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation",
                  "--wheel-dir", folder, source, env={**os.environ, "CORUN_BUILD_DIR": str(build)})
        plain = next(folder.glob("*.whl"))
        output_of(sys.executable, "-m", "wheel", "unpack", "--dest", folder, plain)
        tree = next(path for path in folder.glob("corun-*") if path.is_dir())
        own = [tree / "corun/bin/corun", *tree.glob("corun/_corun*.so")]
        own[0].chmod(0o755)  # unpacking has left that out
        bundled = tree / "corun.libs"
        bundled.mkdir()
        libraries = {}
        for file in own:
            libraries.update(libraries_of(file))
        for name, path in sorted(libraries.items()):
            shutil.copyfile(path, bundled / name)
            copy_licence(path, bundled)
            output_of("patchelf", "--set-rpath", "$ORIGIN", bundled / name)
        for file in own:
            depth = "/".join([".."] * len(file.relative_to(tree).parent.parts))
            output_of("patchelf", "--set-rpath", f"$ORIGIN/{depth}/corun.libs", file)
            output_of("strip", "--strip-unneeded", file)
        libc = platform.libc_ver()[1].replace(".", "_")
        described = next(tree.glob("*.dist-info/WHEEL"))
        described.write_text(re.sub(r"-linux_(\w+)$", rf"-manylinux_{libc}_\1", described.read_text(), flags=re.M))
        output_of(sys.executable, "-m", "wheel", "pack", "--dest-dir", into, tree)
    print(max(into.glob("*.whl"), key=lambda path: path.stat().st_mtime))
    return None


main()
