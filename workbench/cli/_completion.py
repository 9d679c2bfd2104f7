"""`workbench completion SHELL`: completion scripts, made from the parsers themselves."""

from __future__ import annotations

import argparse

from workbench.cli.commands import COMMANDS, DONE, GROUPS, Command, find, first_words, kinds

BASH = """_workbench() {
  local word=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]} names words
  case "$COMP_CWORD $first" in
    "1 "*) names="%(commands)s" ;;
%(groups)s
  esac
  if [ "$names" ]; then
    COMPREPLY=( $(compgen -W "$names" -- "$word") ); return
  fi
  case "$first ${COMP_WORDS[2]} " in
%(cases)s
  esac
  case "$word" in
    -*) COMPREPLY=( $(compgen -W "$words" -- "$word") ) ;;
    *) COMPREPLY=( $(compgen -f -- "$word") ) ;;
  esac
}
complete -o filenames -F _workbench workbench"""


def _arguments_of_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="for which shell")


def _run_completion(args: argparse.Namespace) -> int:
    print(completion_script(args.shell))
    return DONE


COMPLETION = _arguments_of_completion, _run_completion


def completion_script(shell: str) -> str:
    """Return the completion script of a shell, with the options that the parsers have; zsh reads that of bash."""
    options = {name: _long_options(find(name)) for name in COMMANDS}
    if shell == "fish":
        return _fish_script(options)
    cases = "\n".join(f'    "{name} "*) words="{" ".join(words)}" ;;' for name, words in options.items())
    groups = "\n".join(f'    "2 {group}") names="{" ".join(kinds(group))}" ;;' for group in GROUPS)
    text = BASH % {"commands": " ".join(first_words()), "groups": groups, "cases": cases}
    return f"autoload -U +X bashcompinit && bashcompinit\n{text}" if shell == "zsh" else text


def _long_options(command: Command) -> list[str]:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return [word for action in parser._actions for word in action.option_strings if word.startswith("--")]


def _fish_script(options: dict[str, list[str]]) -> str:
    start, has_word = "complete -c workbench -n", "__fish_seen_subcommand_from"
    lines = [f"{start} __fish_use_subcommand -f -a {word}" for word in first_words()]
    for group in GROUPS:
        inner = " ".join(kinds(group))
        lines.append(f"{start} '{has_word} {group}; and not {has_word} {inner}' -f -a '{inner}'")
    for name, words in options.items():
        condition = "; and ".join(f"{has_word} {word}" for word in name.split())
        lines += [f"{start} '{condition}' -l {word[2:]}" for word in words]
    return "\n".join(lines)
