"""Completion is installed where shells look, and offers what may stand there."""

import pathlib
import shutil
import tempfile
import unittest

from installed import ROOT, Installed, output

COMPLETE = """
source "$1"; cd "$2"; shift 2
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_foretrain
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(Installed):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        for name in ["job.yaml", "other job.yml", "profile.json"]:
            (pathlib.Path(self.work.name) / name).touch()
        (pathlib.Path(self.work.name) / "runs").mkdir()

    def script(self, name):
        return str(self.prefix / "share" / name)

    def bash(self, *words):
        """What bash offers in place of the last of `words`, which are split as bash splits them."""
        script = self.script("bash-completion/completions/foretrain")
        return output(["bash", "-c", COMPLETE, "bash", script, self.work.name, "foretrain", *words]).split("\n")[:-1]

    def test_offers_commands(self):
        self.assertEqual(self.bash("s"), ["sweep", "split", "size", "show"])
        self.assertEqual(self.bash("help", "pre"), ["predict"])

    def test_offers_the_options_of_the_command_only(self):
        self.assertEqual(self.bash("order", "--r"), ["--run", "--rank-file"])
        self.assertEqual(self.bash("size", "--r"), ["--run"])

    def test_offers_the_words_of_an_option(self):
        for words in [["--model", ""], ["-m", ""], ["--model", "="], ["--model", "=", ""]]:
            self.assertEqual(self.bash("predict", *words), ["timeline", "closed-form"])
        self.assertEqual(self.bash("bandwidth", "--pairs", "=", "sa"), ["sample"])

    def test_offers_jobs_folders_and_files_where_they_may_stand(self):
        self.assertEqual(self.bash("predict", ""), ["runs", "job.yaml", "other job.yml"])
        self.assertEqual(self.bash("predict", "--run", ""), ["runs"])
        self.assertEqual(self.bash("import", "prof"), ["profile.json"])

    def test_offers_nothing_for_what_only_the_user_knows(self):
        self.assertEqual(self.bash("size", "--deadline", ""), [""])

    def test_offers_only_words_that_the_program_takes(self):
        job = ROOT / "tests/cli/bandwidth_plans_without_a_host/job.yaml"
        for pairs in self.bash("bandwidth", "--pairs", ""):
            output([self.program, "bandwidth", "--plan", "--pairs", pairs, job], cwd=self.work.name)
        job = ROOT / "examples/resnet50-200/job.yaml"
        for model in self.bash("predict", "--model", ""):
            output([self.program, "predict", "--model", model, job])
        for shell in self.bash("completion", ""):
            output([self.program, "completion", shell])

    def fish(self, line):
        offered = output(["fish", "-c", f"source {self.script('fish/vendor_completions.d/foretrain.fish')}; complete -C '{line}'"],
                         cwd=self.work.name)
        return sorted(word.split("\t")[0] for word in offered.splitlines())

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed: its completion is NOT tested")
    def test_fish_offers_the_same(self):
        self.assertEqual(self.fish("foretrain s"), ["show", "size", "split", "sweep"])
        self.assertEqual(self.fish("foretrain order --r"), ["--rank-file", "--run"])
        self.assertEqual(self.fish("foretrain predict --model "), ["closed-form", "timeline"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed: its completion is NOT tested")
    def test_zsh_reads_its_script(self):
        output(["zsh", "-n", self.script("zsh/site-functions/_foretrain")])


if __name__ == "__main__":
    unittest.main()
