"""Options of the compiler that would take away what our hooks need."""
import subprocess

import pytest
from conftest import VENTURI, source

PROGRAM = """
#include <unistd.h>
static int work(int n)
{
    usleep(20000);
    return n + 1;
}
int main(void)
{
    int a = work(1);
    usleep(30000);
    a += work(a);
    return a > 10;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_frame_pointer_stays(compile, record, tmp_path, level):
    (tmp_path / "flags.c").write_text(PROGRAM)
    _, lines = record(compile("gcc", str(tmp_path / "flags.c"), flags=[level, "-fomit-frame-pointer", "-mred-zone"],
                              options=("-l", "--exact")))
    times = {number: line["time"] or 0 for number, line in lines.of("main").items()}
    assert 0.02 <= times[10] and 0.03 <= times[11] and 0.02 <= times[12] and sum(times.values()) < lines.took


def test_stack_in_pieces_is_refused(tmp_path):
    done = subprocess.run([VENTURI, "cc", "-l", "--exact", "-fsplit-stack", source("exact.c"), "-o", tmp_path / "x"],
                          capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "-fsplit-stack" in done.stderr
