"""`workbench completion SHELL`: a completion script, made from the parsers themselves."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, Command

BASH = """_workbench() {
  local word=${COMP_WORDS[COMP_CWORD]} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "%(commands)s" -- "$word") ); return
  fi
  case "${COMP_WORDS[1]}" in
%(cases)s
  esac
  case "$word" in
    -*) COMPREPLY=( $(compgen -W "$words" -- "$word") ) ;;
    *) COMPREPLY=( $(compgen -f -- "$word") ) ;;
  esac
}
complete -o filenames -F _workbench workbench"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="for which shell")


def run(given: argparse.Namespace) -> int:
    print(script(given.shell, options()))
    return DONE


def options() -> dict[str, list[str]]:
    """Return the long options of every command, as its parser has them."""
    from workbench.cli.main import COMMANDS, find

    return {name: _long(find(name)) for name in COMMANDS}


def _long(command: Command) -> list[str]:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return [word for action in parser._actions for word in action.option_strings if word.startswith("--")]


def script(shell: str, known: dict[str, list[str]]) -> str:
    """Return the completion script of a shell; zsh reads that of bash."""
    if shell == "fish":
        return _fish(known)
    cases = "\n".join(f'    {name}) words="{" ".join(words)}" ;;' for name, words in known.items())
    text = BASH % {"commands": " ".join(known), "cases": cases}
    return f"autoload -U +X bashcompinit && bashcompinit\n{text}" if shell == "zsh" else text


def _fish(known: dict[str, list[str]]) -> str:
    lines = [f"complete -c workbench -n __fish_use_subcommand -f -a {name}" for name in known]
    for name, words in known.items():
        lines += [f"complete -c workbench -n '__fish_seen_subcommand_from {name}' -l {word[2:]}" for word in words]
    return "\n".join(lines)


COMMAND = Command("completion", "A completion script for bash, zsh or fish.", add_arguments, run)
