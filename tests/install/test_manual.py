"""The manual page has the commands and options that the program has, no more and no fewer."""

import re
import unittest

from installed import Installed, output

HELP_OPTION = re.compile(r"^  (?:-(\S), |    )--([\w-]+)(?:=(\S+))?", re.MULTILINE)


class Manual(Installed):
    def setUp(self):
        page = (self.prefix / "share/man/man1/foretrain.1").read_text()
        self.section = dict(re.findall(r"^\.Sh (.*)\n((?:(?!\.Sh ).*\n)*)", page, re.MULTILINE))
        self.commands = re.findall(r"^  (\w+) .*  ", output([self.program, "help"]), re.MULTILINE)
        self.assertIn("predict", self.commands)

    def options(self, command):
        """(letter, name, argument) of all options of a command but those that every one has."""
        found = HELP_OPTION.findall(output([self.program, "help", command]))
        return {option for option in found if option[1] not in ("help", "usage")}

    def test_describes_every_command(self):
        described = re.findall(r"^\.It Cm (\w+)", self.section["COMMANDS"], re.MULTILINE)
        self.assertEqual(sorted(described), sorted(self.commands))

    def test_describes_every_option(self):
        wanted = {option for command in self.commands if command != "help" for option in self.options(command)}
        described = set()
        for line in re.findall(r"^\.It (Fl .*)", self.section["OPTIONS"], re.MULTILINE):
            letter, name, argument = re.fullmatch(r"Fl (?:(\S) , )?-([\w-]+)(?: Ns = Ns Ar (.*))?", line).groups("")
            described.add((letter, name, argument.replace(" Ns = Ns Ar ", "=")))
        common = {("?", "help", ""), ("", "usage", ""), ("V", "version", "")}
        self.assertEqual(described - common, wanted)
        self.assertLessEqual(common, described)

    def test_shows_each_command_with_its_options(self):
        shown = {}
        for block in self.section["SYNOPSIS"].split(".Nm\n")[1:]:
            command, rest = re.match(r"\.Cm (\w+)\n((?:.*\n)*)", block).groups()
            words = re.findall(r"Fl (\S+)", rest)
            shown[command] = sorted(key for word in words for key in ([word] if word[0] == "-" else word))
        wanted = {command: sorted(letter or "-" + name for letter, name, _ in self.options(command))
                  for command in self.commands if command != "help"}
        self.assertEqual(shown, {**wanted, "help": []})


if __name__ == "__main__":
    unittest.main()
