#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gpurace may write to and remove (docs/files.md), by its commands: test_own_files.py GPURACE EXAMPLES [TESTS of unittest]"""
import glob
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

GPURACE, EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
del sys.argv[1:3]
RACY = str(EXAMPLES / "reduction_race")
FORMATS = "text", "json", "html", "sarif", "junit", "github"
PTX = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="test-own-files-")
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE")} | {"TMPDIR": self.scratch.name}

    def call(self, *words, status=None, **more):
        done = subprocess.run([GPURACE, *map(str, words)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more), text=True, timeout=100, check=False)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(glob.glob(f"{self.folder}/**/*.tmp*", recursive=True), [], "a temporary file is left")
        return done

    def report(self):
        """A JSON report to write others from."""
        self.call("run", "--device", "cpu", "--format", "json", "--output", "a.json", "--", RACY, status=66)
        return "a.json"

    def make(self, name, text="mine\n"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Output(Case):
    def test_over_an_earlier_report(self):
        """Any format over any other, in colour and in short, too."""
        report = self.report()
        looks = [("--format", f) for f in FORMATS] + [("--color", "always"), ("--quiet",), ("--quiet", "--color", "always")]
        for words in looks + looks[:1]:
            self.call("report", *words, "--output", "out", report, status=0)
        for form in "text", "json":
            self.call("diff", "--format", form, "--output", "out", report, report, status=0)
        self.call("report", "--format", "text", "--output", "out", report, status=0)

    def test_not_over_what_is_no_report(self):
        report = self.report()
        others = {"app.cu": "__global__ void k() {}\n", "notes.md": "# Notes\n\nWe saw gpurace: 1 race\n", "app": "\177ELF\2\1\1\0", "x.json": "{}"}
        for name, text in others.items():
            path = self.make(name, text)
            for words in (["report", report], ["diff", report, report], ["check", path]):
                done = self.call(words[0], "--output", name, *words[1:])
                self.assertNotIn(done.returncode, (0, 66))
                self.assertRegex(done.stderr, f"cannot write {name}: it is there already, and is no report of gpurace; name another file, or remove it first")
                self.assertEqual(path.read_text(), text)
            done = self.call("run", "--device", "cpu", "--output", name, "--", "/bin/sh", "-c", "touch ran", status=2)
            self.assertIn(f"--output: cannot write {name}: it is there already", done.stderr)
            done = self.call("repair", "--output", name, "--build", "touch ran", "--", "./app")
            self.assertIn(f"cannot write {name}: it is there already", done.stderr)
            self.assertFalse((self.folder / "ran").exists(), "something was done before")
            self.assertEqual(path.read_text(), text)

    def test_folder_of_several_formats(self):
        report = self.report()
        mine = self.make("out/report.html", "<p>mine")
        done = self.call("report", "--format", "text,html", "--output", "out", report)
        self.assertIn("cannot write out/report.html: it is there already", done.stderr)
        self.assertEqual((mine.read_text(), os.listdir(mine.parent)), ("<p>mine", ["report.html"]))
        mine.unlink()
        for _ in range(2):
            self.call("report", "--format", "text,html", "--output", "out", report, status=0)

    def test_other_kinds_of_files(self):
        ptx = self.make("k.ptx", PTX)
        done = self.call("ptx", "k.ptx", "-o", "k.ptx", status=2)
        self.assertIn("cannot write k.ptx: it is there already, and is no PTX that gpurace wrote", done.stderr)
        self.assertEqual(ptx.read_text(), PTX)
        for _ in range(2):
            self.call("ptx", "k.ptx", "-o", "new.ptx", status=0)
        for option, what in (("--record-launches", "record of launches"), ("--coverage", "")):
            mine = self.make("mine")
            done = self.call("run", "--device", "cpu", "--engine", "collider", option, "mine", "--", RACY, status=2)
            self.assertIn(what, done.stderr)
            self.assertEqual(mine.read_text(), "mine\n")
            for _ in range(2):
                self.call("run", "--device", "cpu", "--engine", "collider", option, "new" + option, "--", RACY, status=66)

    def test_extracted(self):
        for _ in range(2):
            self.call("fatbin", "--extract", "out", RACY, status=0)
        first = sorted((self.folder / "out").iterdir())[0]
        first.write_text(PTX)
        self.assertIn("is no PTX that gpurace wrote", self.call("fatbin", "--extract", "out", RACY, status=1).stderr)
        self.assertEqual(first.read_text(), PTX)

    def test_links(self):
        """The link stays, and what it leads to decides."""
        report = self.report()
        link, source = self.folder / "link", self.make("src/app.cu")
        link.symlink_to("src/app.cu")
        self.assertIn("it is there already", self.call("report", "--output", "link", report).stderr)
        self.assertEqual(source.read_text(), "mine\n")
        source.unlink()
        for _ in range(2):  # what it leads to is not there yet, then it is a report
            self.call("report", "--output", "link", report, status=0)
            self.assertTrue(link.is_symlink())
            self.assertIn("gpurace: 1 race", source.read_text())
        (self.folder / "linked").symlink_to("src")
        self.make("src/app.cu")
        self.assertIn("it is there already", self.call("report", "--output", "linked/app.cu", report).stderr)

    def test_hard_link(self):
        """The other name keeps what it has."""
        report = self.report()
        source = self.make("app.cu")
        os.link(source, self.folder / "out")
        self.assertIn("it is there already", self.call("report", "--output", "out", report).stderr)
        os.unlink(self.folder / "out")
        os.link(self.folder / report, self.folder / "out")
        before = (self.folder / report).read_text()
        self.call("report", "--output", "out", report, status=0)
        self.assertEqual((self.folder / report).read_text(), before)

    def test_mode_stays(self):
        report = self.report()
        (self.folder / "out").touch(0o600)
        self.call("report", "--output", "out", report, status=0)
        self.assertEqual((self.folder / "out").stat().st_mode & 0o777, 0o600)

    def test_leftover_of_another(self):
        """A file that has the name of a temporary one is nobody's to write to."""
        report, script = self.report(), self.make("s.sh", 'echo mine > "out.tmp$$"; exec "$@"\n')
        done = subprocess.run(["sh", script, GPURACE, "report", "--output", "out", report], cwd=self.folder, env=self.environment, check=False)
        self.assertEqual(done.returncode, 0)
        left, = self.folder.glob("out.tmp*")
        self.assertEqual(left.read_text(), "mine\n")

    def test_streams(self):
        report = self.report()
        (self.folder / "link").symlink_to("/dev/stdout")  # a gpurace that takes it for a file replaces this link, and not the system's
        for name in "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link":
            self.assertIn("gpurace: 1 race", self.call("report", "--output", name, report, status=0).stdout)
        for name in "/dev/fd/1", "/proc/self/fd/1", "link":
            with open(self.folder / "both", "w", encoding="utf-8") as file:  # what was printed before stays
                file.write("before\n")
                file.flush()
                self.call("report", "--output", name, report, stdout=file, status=0)
            text = (self.folder / "both").read_text()
            self.assertTrue(text.startswith("before\n====") and "gpurace: 1 race" in text, text)
        self.assertTrue((self.folder / "link").is_symlink())
        self.call("report", "--output", "/dev/null", report, status=0)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_pipe(self):
        os.mkfifo(self.folder / "pipe")
        with subprocess.Popen(["cat", self.folder / "pipe"], stdout=subprocess.PIPE, text=True) as reader:
            self.addCleanup(reader.kill)
            self.call("run", "--device", "cpu", "--output", "pipe", "--", RACY, status=66)
            self.assertIn("gpurace: 1 race", reader.communicate(timeout=60)[0])
        self.assertTrue((self.folder / "pipe").is_fifo())

    def test_folder_where_a_file_is_expected(self):
        report = self.report()
        (self.folder / "out").mkdir()
        self.assertIn("cannot write out: it is a folder", self.call("report", "--output", "out", report).stderr)

    @unittest.skipIf(os.geteuid() == 0 and not shutil.which("setpriv"), "root may write anywhere")
    def test_folder_that_takes_no_names(self):
        report = self.report()
        folder = self.folder / "closed"
        folder.mkdir()
        self.call("report", "--output", "closed/out", report, status=0)
        (folder / "mine").write_text("mine\n")
        before = os.geteuid()
        for path in (self.folder, folder, folder / "out", folder / "mine"):
            os.chmod(path, 0o777 if path != folder else 0o555)
        as_other = ["setpriv", "--reuid=65534", "--clear-groups"] if before == 0 else []
        for name, says in (("closed/new", "Permission denied"), ("closed/mine", "it is there already")):
            done = subprocess.run([*as_other, GPURACE, "report", "--output", name, report], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertIn(says, done.stderr)
        done = subprocess.run([*as_other, GPURACE, "report", "--quiet", "--output", "closed/out", report], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("====", (folder / "out").read_text())
        self.assertEqual((folder / "mine").read_text(), "mine\n")
        os.chmod(folder, 0o755)

    def test_full_disk(self):
        """A limit on the size of files stands for it. The earlier report stays as a whole."""
        report = self.report()
        self.call("report", "--output", "out", report, status=0)
        before = (self.folder / "out").read_text()

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.assertEqual(self.call("report", "--format", "html", "--output", "out", report, preexec_fn=limit).returncode, 1)
        self.assertEqual((self.folder / "out").read_text(), before)


class Campaign(Case):
    def campaign(self, *words, status=66):
        return self.call("campaign", "--device", "cpu", "--state", ".", *words, "--seeds", "1..2", "--", RACY, status=status)

    def test_fresh_in_a_folder_with_files_of_the_user(self):
        mine = [self.make(name) for name in ("notes.sqlite", "my.log", "runs/server.log", "runs/seed5.log", "runs/report-campaign-1-1.json",
                                             "shares/other.sqlite", "shares/1-of-2.sqlite", "shares/growth.svg")]
        (self.folder / "runs/seed9.log").symlink_to("../my.log")
        mine[-2].unlink()
        self.campaign()
        shutil.copy(self.folder / "campaign.sqlite", self.folder / "backup.sqlite")
        before = json.dumps(os.listdir(self.folder / "runs"))
        mine[-2].write_text("mine\n")  # a share's name, and no results
        done = self.campaign("--fresh", status=None)
        self.assertIn("--fresh leaves ", done.stderr)
        self.assertIn("server.log", done.stderr)
        for path in mine:
            self.assertEqual(path.read_text(), "mine\n", path)
        self.assertEqual(json.dumps(os.listdir(self.folder / "runs")), before)
        self.assertTrue((self.folder / "backup.sqlite").exists())

    def test_fresh_removes_what_is_its_own(self):
        self.call("campaign", "--device", "cpu", "--state", ".", "--seeds", "1..2", "--", "env", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(len(os.listdir(self.folder / "runs")), 2)
        self.call("campaign", "--device", "cpu", "--state", ".", "--share", "1/2", "--seeds", "1..2", "--", "env", "sh", "-c", "kill -SEGV $$")
        done = self.campaign("--fresh")
        self.assertNotIn("leaves", done.stderr)
        self.assertEqual((os.listdir(self.folder / "runs"), [n for n in os.listdir(self.folder / "shares") if not n.endswith(".lock")]), ([], []))

    def test_names_that_are_taken(self):
        for name in "growth.svg", "runs/seed1-auto-auto.log", "campaign.sqlite":
            path = self.make(name, "mine, and longer than a header of SQLite would be, so that it is told by what it holds\n" * 20)
            before = path.read_text()
            for words in (), ("--fresh",):
                done = self.campaign(*words, status=None)
                self.assertNotIn(done.returncode, (0, 66), name)
                self.assertIn(name, done.stderr)
                self.assertEqual(path.read_text(), before)
            path.unlink()


if __name__ == "__main__":
    unittest.main()
