"""The script of docs/ci.md, word for word, on a repository with a program in C."""
import os
import shutil
import subprocess

import pytest
from conftest import TOP, cli, git

PROGRAM = """
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile long sum = 0;
    for (long i = 0; i < 50000L * FACTOR * (argc > 1 ? atol(argv[1]) : 1); i++)
        sum += i;
    return 0;
}
"""


def script():
    with open(os.path.join(TOP, "docs", "ci.md"), encoding="utf-8") as page:
        return page.read().split("```sh\n")[1].split("```")[0]


def commit(folder, factor):
    (folder / "pipeline.c").write_text(PROGRAM.replace("FACTOR", str(factor)))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "factor %d" % factor)


@pytest.fixture
def project(tmp_path):
    if not shutil.which("cc") or not shutil.which("make"):
        pytest.skip("no compiler")
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / ".gitignore").write_text("pipeline\nperf.*\n")
    (folder / "Makefile").write_text("pipeline: pipeline.c\n\tcc -O1 -g -o $@ pipeline.c\n")
    (folder / "perf.sh").write_text(script())
    commit(folder, 1)
    git(folder, "checkout", "-qb", "work")
    return folder


def perf(venturi, folder, tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    if not (tools / "venturi").exists():
        (tools / "venturi").symlink_to(venturi.path)
    env = cli.bare_environment(TMPDIR=tmp_path, PATH="%s:%s" % (tools, os.environ["PATH"]))
    return subprocess.run(["sh", "perf.sh", "main"], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=600, check=False)


def test_a_slower_branch_fails(venturi, project, tmp_path):
    commit(project, 3)
    done = perf(venturi, project, tmp_path)
    assert done.returncode == 1, done.stderr
    assert "### Performance: ❌ regression" in done.stdout and "| cpu |" in done.stdout
    assert "<failure" in (project / "perf.xml").read_text()
    assert git(project, "worktree", "list").count("\n") == 1


def test_a_change_of_words_passes(venturi, project, tmp_path):
    (project / "README").write_text("words\n")
    commit(project, 1)
    done = perf(venturi, project, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_branch_that_does_not_build_is_an_error(venturi, project, tmp_path):
    (project / "pipeline.c").write_text("int main(void) { return }\n")
    git(project, "commit", "-qam", "broken")
    done = perf(venturi, project, tmp_path)
    assert done.returncode == 2 and "--setup failed for HEAD" in done.stderr
