"""Help texts begin with examples, lists fit the terminal, and the manual page and the completions know every option."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import unittest

from tool import ToolTest, main

#: Lines to be completed, and what their last words become.
CASES = (("lagtape tr", ["train"]), ("lagtape train --dry", ["--dry-run"]), ("lagtape train lo", ["load.json"]),
         ("lagtape train --set train.ep", ["train.epochs="]), ("lagtape check --set model.layers.0.ta", ["model.layers.0.tau="]),
         ("lagtape list cells tau", ["tau_gru"]), ("lagtape new macke", ["mackey_glass"]),
         ("lagtape eval runs/lo", ["runs/load-0"]), ("lagtape export run --to onnx", ["onnx", "onnx-step"]),
         ("lagtape export run --lengths lo", ["load.json"]))


class HelpTest(ToolTest):
    def commands(self):
        overview = self.run_tool("--help")[0]
        return re.findall(r"^  ([a-z]+) ", overview.split("Subcommands:")[1], re.MULTILINE)

    def options(self, command):
        return set(re.findall(r"^  (?:-h,)?(--[a-z-]+)", self.run_tool(command, "--help")[0], re.MULTILINE))

    def test_every_help_text_begins_with_examples_of_its_command(self):
        self.assertIn("completion", self.commands())
        self.assertTrue(self.run_tool("--help")[0].startswith("Examples:\n  lagtape "))
        for command in self.commands():
            with self.subTest(command):
                text = self.run_tool(command, "--help")[0]
                self.assertTrue(text.startswith("Examples:\n  "), text[:100])
                for line in re.findall(r"^  (\S.*)", text.split("\n\n")[0], re.MULTILINE):
                    self.assertIn(f"lagtape {command}", line)
                self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])

    def test_the_options_in_examples_are_known(self):
        for command in self.commands():
            examples = self.run_tool(command, "--help")[0].split("\n\n")[0]
            self.assertLessEqual(set(re.findall(r"--[a-z-]+", examples)), self.options(command), command)

    def test_completions_and_manual_know_every_command_and_option(self):
        texts = {form: self.run_tool("completion", form)[0] for form in ("bash", "zsh", "fish", "man")}
        for command in self.commands():
            options = self.options(command)
            self.assertIn("--help", options)
            bash = re.search(rf"^    {command}\) options='([^']*)'", texts["bash"], re.MULTILINE)[1]
            self.assertEqual(set(bash.split()), options, command)
            zsh = texts["zsh"].split(f"    {command}) _arguments")[1].split(";;")[0]
            self.assertEqual(set(re.findall(r"'\*?(--[a-z-]+)\[", zsh)), options, command)
            fish = re.findall(rf"__fish_seen_subcommand_from {command}' -l ([a-z-]+)", texts["fish"])
            self.assertEqual({"--" + name for name in fish}, options, command)
            manual = texts["man"].split(f".SS {command}\n")[1].split(".SS ")[0].split(".SH ")[0].replace("\\-", "-")
            self.assertEqual(set(re.findall(r"^\\fB(--[a-z-]+)\\fR", manual, re.MULTILINE)), options, command)
        self.assertIn("did you mean 'bash'", self.run_tool("completion", "bsh", code=2)[1])

    def test_shells_take_the_completions(self):
        for shell, form in (("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")):
            with self.subTest(shell):
                if not shutil.which(shell):
                    self.skipTest(f"{shell} is not installed")
                path = self.write(f"completion.{form}", self.run_tool("completion", form)[0])
                done = subprocess.run([shell, "-n", path], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def completions_in(self, shell, script, *args):
        """The output of a shell that has read the completion and completes CASES, a line each."""
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        self.write({"zsh": "_lagtape"}.get(shell, f"completion.{shell}"), self.run_tool("completion", shell)[0])
        self.write("load.json", "{}")
        (self.folder / "runs/load-0").mkdir(parents=True)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/lagtape").symlink_to(self.tool)
        environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder / "home"),
                       "XDG_CONFIG_HOME": str(self.folder / "home")}
        done = subprocess.run([*args, script], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.splitlines()

    def test_bash_completes(self):
        script = "source completion.bash\n" + "".join(
            f"COMP_WORDS=({line}); COMP_CWORD={len(line.split()) - 1}; _lagtape; echo \"${{COMPREPLY[*]}}\"\n" for line, _ in CASES)
        found = [line.split() for line in self.completions_in("bash", script, "bash", "-c")]
        self.assertEqual(found, [expected for _, expected in CASES])

    def test_fish_completes(self):
        script = "source completion.fish\n" + "".join(
            f"echo (complete -C '{line}' | string replace -r '\\t.*' '')\n" for line, _ in CASES)
        found = [[word.rstrip("/") for word in line.split()]
                 for line in self.completions_in("fish", script, "fish", "--no-config", "-c")]
        self.assertEqual(found, [expected for _, expected in CASES])

    def test_zsh_completes(self):
        """In a terminal of zsh's own, since only its line editor completes. It prints the line with what is in common."""
        self.write("setup.zsh", "PS1=; unsetopt beep; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D\n"
                   f"lines=({' '.join(repr(line) for line, _ in CASES)})\n"
                   "zle-line-init() { for BUFFER in $lines; do CURSOR=$#BUFFER; zle complete-word; print -r -- \"<$BUFFER>\"; done; exit }\n"
                   "zle -N zle-line-init\n")
        script = "zmodload zsh/zpty; zpty inner zsh -f -i; zpty -w inner 'source setup.zsh'; while zpty -r inner line; do print -rn -- $line; done"
        printed = "\n".join(self.completions_in("zsh", script, "zsh", "-f", "-c"))
        self.assertNotIn("_alternative:", printed)  # a complaint of the functions that complete
        found = re.findall("<(lagtape [^>]*)>", printed)
        for (line, expected), completed in zip(CASES, found, strict=True):
            self.assertEqual(completed.split(" ")[:-1] if completed.endswith(" ") else completed.split(" "),
                             [*line.split()[:-1], os.path.commonprefix(expected) + "/" * expected[0].startswith("runs/")], line)
            self.assertFalse(completed.endswith("= "), completed)

    def test_the_manual_page_is_one(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        manual = self.run_tool("completion", "man")[0]
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=manual, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("EXIT STATUS", re.sub(".\b", "", done.stdout))  # bold letters are struck twice

    def test_a_list_fits_the_terminal(self):
        for width in (40, 80, 200):
            for args in (["list"], ["list", "tasks", "series"], ["list", "cells", "tau_gru"]):
                ours, theirs = pty.openpty()
                fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
                process = subprocess.Popen([self.tool, *args], stdout=theirs)
                os.close(theirs)
                text = b""
                try:
                    while part := os.read(ours, 65536):
                        text += part
                except OSError:  # the end of a terminal
                    pass
                process.wait()
                os.close(ours)
                lines = text.decode().replace("\r", "").splitlines()
                long = [line for line in lines if len(line) > width and " " in line.strip()]
                self.assertEqual(long, [], (width, args))
                words = " ".join(" ".join(lines).split())
                self.assertEqual(words, " ".join(self.run_tool(*args)[0].split()))

    def test_a_list_through_a_pipe_has_80_columns(self):
        for args in (["list"], ["list", "tasks", "series"], ["list", "cells", "tau_gru"]):
            lines = self.run_tool(*args)[0].splitlines()
            self.assertEqual([line for line in lines if len(line) > 80 and " " in line.strip()], [], args)
            self.assertGreater(max(map(len, lines)), 70)


if __name__ == "__main__":
    main()
