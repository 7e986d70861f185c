#!/usr/bin/python3
"""Manual pages and completion of shells, from what the program prints of itself.

usage: manual.py CORUN FOLDER

Writes FOLDER/man1/corun*.1 (by help2man) and FOLDER/completion/{corun, _corun, corun.fish} for bash, zsh and fish.
"""
import pathlib
import re
import shutil
import subprocess
import sys

LIMIT_S = 60
COMMAND = re.compile(r"^  ([a-z][a-z-]*)  +(\S.*)$", re.M)
OPTION = re.compile(r"^  (?:-\w \[ )?(--[a-z-]+)(?: \])?(?: arg| [A-Z][A-Z=/,.]*| \(=.*?\))* +(\S.*)$", re.M)


def printed(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout


def words_of(program, *command):
    """{words: (summary, {option: its description})} of a command and of those below it."""
    text = printed(program, *command, "--help")
    found = {command: ("", dict(OPTION.findall(text)))}
    head = text.split("describes each", 1)
    if len(head) == 2:
        for word, summary in COMMAND.findall(head[0]):
            for words, (below, options) in words_of(program, *command, word).items():
                found[words] = (below or summary, options)
    return found


def write_pages(program, version, commands, folder):
    if shutil.which("help2man") is None:
        sys.exit("manual: help2man is not installed; on Debian: apt-get install help2man")
    folder.mkdir(parents=True)
    for words, (summary, _) in commands.items():
        name = "-".join(("corun", *words))
        near = sorted("-".join(("corun", *other)) for other in commands if other != words and
                      (other[:-1] == words or other == words[:-1]))
        include = folder / "include"
        include.write_text("[see also]\n" + ", ".join(f"\\fB{page}\\fR(1)" for page in near) + "\n")
        text = printed("help2man", "--no-info", "--name", summary or "which jobs should share a GPU, and what does it cost?",
                       "--version-string", version, "--include", str(include), " ".join((program, *words)))
        # help2man names the page by the first word of the usage.
        text = re.sub(r"^\.TH \S+", f'.TH {name.upper()}', text, count=1, flags=re.M)
        text = re.sub(r"^corun \\-", name.replace("-", "\\-") + " \\\\-", text, count=1, flags=re.M)
        (folder / f"{name}.1").write_text(text)
        include.unlink()


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def write_completion(commands, folder):
    folder.mkdir(parents=True)
    table = {}  # what may follow words: words, options
    for words, (_, options) in commands.items():
        table.setdefault(" ".join(words), []).extend(options)
        if words:
            table.setdefault(" ".join(words[:-1]), []).append(words[-1])
    cases = "".join(f"    {quoted(words)}) echo {quoted(' '.join(sorted(set(follow))))} ;;\n"
                    for words, follow in sorted(table.items()))
    follow = f"_corun_follow() {{\n  case \"$1\" in\n{cases}  esac\n}}\n"
    (folder / "corun").write_text(f"""\
# Completion of corun for bash.
{follow}
_corun() {{
  local words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} != -* && -n $(_corun_follow "${{words:+$words }}${{COMP_WORDS[i]}}") ]] || break
    words+=${{words:+ }}${{COMP_WORDS[i]}}
  done
  mapfile -t COMPREPLY < <(compgen -W "$(_corun_follow "$words")" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -o default -F _corun corun
""")
    (folder / "_corun").write_text(f"""\
#compdef corun
# Completion of corun for zsh.
{follow}
_corun() {{
  local found='' i
  for ((i = 2; i < CURRENT; i++)); do
    [[ ${{words[i]}} != -* && -n $(_corun_follow "${{found:+$found }}${{words[i]}}") ]] || break
    found+=${{found:+ }}${{words[i]}}
  done
  compadd -- ${{=$(_corun_follow "$found")}}
  _files
}}
_corun "$@"
""")
    lines = ["# Completion of corun for fish."]
    for words, (summary, options) in commands.items():
        if words:
            above = "__fish_use_subcommand" if len(words) == 1 else f"__fish_seen_subcommand_from {words[0]}"
            lines.append(f"complete -c corun -n {quoted(above)} -a {words[-1]} -d {quoted(summary)}")
        seen = " ; and ".join(f"__fish_seen_subcommand_from {word}" for word in words)
        for option, what in options.items():
            when = f"-n {quoted(seen)} " if seen else ""
            lines.append(f"complete -c corun {when}-l {option[2:]} -d {quoted(what)}")
    (folder / "corun.fish").write_text("\n".join(lines) + "\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    commands = words_of(program)
    if len(commands) < 20:
        sys.exit("manual: corun --help lists no commands")
    write_completion(commands, folder / "completion")
    write_pages(program, printed(program, "--version").splitlines()[0], commands, folder / "man1")
    print(f"{folder}: {len(commands)} manual pages, completion for bash, zsh and fish")


main()
