#!/usr/bin/python3
"""Builds the site: the pages of the repository, a reference printed by the program, a search.

usage: site.py CORUN FOLDER

The pages are README.md, docs/ and every page or file that they link, in their own folders, so that their links hold. The
reference is what `corun COMMAND --help`, `corun list` and `corun explain` print. A link to something that is not there is an
error. Needs mkdocs (Debian: mkdocs).
"""
import html
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
LISTS = {"policies": "Policies", "models": "Interference models", "traces": "Trace formats", "predictors": "Predictors",
         "gpus": "GPU types", "keys": "Configuration keys", "figures": "Figures"}
LIMIT_S = 60
# What a reader wants to do, and its pages. Other pages are found by links and search.
CONTENTS = (
    ("Start", (("corun", "README.md"), ("Your trace in ten minutes", "docs/tutorial.md"),
               ("Install", "docs/install.md"), ("Words", "docs/glossary.md"), ("Limits", "docs/limits.md"))),
    ("How to", (("Log formats", "docs/formats.md"), ("Configure", "docs/configuration.md"), ("Sweep", "docs/sweeps.md"),
                ("Read results", "docs/results.md"), ("Report", "docs/report.md"), ("Timeline", "docs/timeline.md"),
                ("Python", "docs/python.md"), ("Your policy as a program", "docs/external-policy.md"),
                ("Measure on a GPU box", "docs/live.md"), ("Workloads to measure", "docs/live-workloads.md"),
                ("Add a real run", "docs/real-runs.md"))),
    ("Understand", (("Design", "docs/design.md"), ("Policies", "docs/policies.md"), ("Interference", "docs/models.md"),
                    ("Knowledge base", "docs/knowledge.md"), ("Predictors", "docs/predictors.md"),
                    ("GPU types", "docs/gpus.md"), ("Reliability", "docs/reliability.md"))),
    ("Trust", (("Reproductions", "docs/reproductions.md"), ("Other simulators", "experiments/peers/README.md"),
               ("Real clusters", "docs/validity.md"), ("Experiments", "experiments/README.md"))),
)


def fail(message):
    sys.exit(f"site: {message}")


def printed(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S, cwd=ROOT).stdout


def gather(stage):
    """Copies README.md, docs/ and all that they link; returns the pages."""
    todo = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    todo += [ROOT / page for _, pages in CONTENTS for _, page in pages]
    pages, files = set(), set()
    while todo:
        path = todo.pop()
        if path in files:
            continue
        files.add(path)
        target = stage / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(path, target)
            continue
        pages.add(path)
        text = path.read_text()

        def resolved(match, path=path):
            linked = (path.parent / match[1]).resolve()
            if not linked.is_relative_to(ROOT) or not linked.exists():
                fail(f"{path.relative_to(ROOT)}: links '{match[1]}', which is not there")
            inside = match[1]
            if linked.is_dir():
                linked /= "README.md"
                inside = inside.rstrip("/") + "/README.md"
                if not linked.exists():
                    fail(f"{path.relative_to(ROOT)}: links the folder '{match[1]}', which has no README.md")
            todo.append(linked)
            return f"]({inside}{match[2] or ''})"

        target.write_text(LINK.sub(resolved, text))
    return pages


def write_reference(program, stage):
    folder = stage / "reference"
    folder.mkdir()
    commands = re.findall(r"^  ([a-z]+)  ", printed(program, "--help"), re.M)
    if len(commands) < 10:
        fail("corun --help lists no commands")
    text = ["# Commands\n", "What `corun COMMAND --help` prints.\n"]
    for command in commands:
        text.append(f"## corun {command}\n\n<pre>{html.escape(printed(program, command, '--help'))}</pre>\n")
    (folder / "commands.md").write_text("\n".join(text))
    for name, title in LISTS.items():
        body = html.escape(printed(program, "list", name))
        (folder / f"{name}.md").write_text(f"# {title}\n\nWhat `corun list {name}` prints.\n\n<pre>{body}</pre>\n")
    return [("Commands", "reference/commands.md"), *((title, f"reference/{name}.md") for name, title in LISTS.items())]


def navigation(entries):
    lines = []
    for title, pages in entries:
        lines.append(f'  - "{title}":')
        lines += [f'    - "{name}": {page}' for name, page in pages]
    return "\n".join(lines)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, out = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    if shutil.which("mkdocs") is None:
        fail("mkdocs is not installed; on Debian: apt-get install mkdocs")
    work = out.parent / (out.name + ".source")
    shutil.rmtree(work, ignore_errors=True)
    stage = work / "docs"
    stage.mkdir(parents=True)
    pages = gather(stage)
    reference = write_reference(program, stage)
    version = printed(program, "--version").split()[1]
    (stage / "site.css").write_text("pre{overflow-x:auto;font-size:80%}.rst-content table{display:block;overflow-x:auto;margin:1em 0}"
                                    ".rst-content td,.rst-content th{padding:.3em .6em}\n")
    (work / "mkdocs.yml").write_text(f"""\
site_name: corun {version}
docs_dir: docs
site_dir: {out}
use_directory_urls: false
theme:
  name: readthedocs
  highlightjs: false
  collapse_navigation: false
extra_css: [site.css]
markdown_extensions:
  - tables
  - fenced_code
  - toc
plugins: [search]
strict: true
nav:
{navigation((*CONTENTS, ("Reference", reference)))}
""")
    done = subprocess.run(["mkdocs", "build", "--quiet", "--clean", "--config-file", str(work / "mkdocs.yml")],
                          capture_output=True, text=True, timeout=10 * LIMIT_S)
    if done.returncode != 0:
        fail(f"mkdocs ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    shutil.rmtree(work)
    print(f"{out}/index.html: {len(pages)} pages and {len(reference)} of reference")


main()
