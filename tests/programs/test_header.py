"""span.h and context.h as other people compile them: C, C++, switched off."""
import os
import shutil
import subprocess

import pytest

INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "include")

SOURCE = """
#include <venturi/span.h>
extern int costly(void);
int work(int n, const char *name)
{
    VT_SPAN("work");
    VT_ATTR("n", n);
    VT_ATTR("costly", costly());
    VT_COUNTER("queue", "items", n);
    VT_ITEMS(n);
    VT_ITEMS_DONE(costly());
    VT_MARK("mark");
    VT_ERROR("type", name);
    vt_start(name);
    vt_lap(name);
    vt_stop();
    VT_START("hand");
    VT_LAP("lap");
    VT_STOP();
    VT_ASYNC_END(VT_ASYNC_BEGIN("async"));
    return n;
}
"""

TRACES = """
#include <venturi/context.h>
extern int costly(void);
static void listen_to(const struct vt_trace_news *news, void *arg)
{
    (void)news;
    (void)arg;
}
int work(int n, const char *name)
{
    struct vt_context context;
    char text[VT_TRACEPARENT] = "";
    if (!vt_context_from_environment())
        vt_context_begin(NULL);
    vt_trace_listen(listen_to, NULL);
    vt_trace_service("project", name, NULL);
    {
        VT_TRACE("work");
        VT_TRACE_ATTR("n", n);
        VT_TRACE_ATTR("flag", n > 3);
        VT_TRACE_ATTR("large", (unsigned long)n);
        VT_TRACE_ATTR("half", n / 2.0);
        VT_TRACE_ATTR("name", name);
        VT_TRACE_ATTR("costly", costly());
        vt_trace_error("type", name);
        vt_trace_start(name);
        vt_trace_stop();
        if (vt_context_get(&context))
            vt_context_traceparent(&context, text);
        if (vt_context_parse_w3c(&context, text, NULL))
            vt_context_begin(&context);
    }
    vt_context_end();
    return text[0];
}
"""


def compile_to_assembler(tmp_path, compiler, language, *flags, text=SOURCE):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "work.c"
    source.write_text(text)
    done = subprocess.run([compiler, "-x", language, "-O2", "-S", "-o", "-", "-I", INCLUDE, "-Wall", "-Wextra", "-Werror",
                           "-pedantic", *flags, source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


COMPILERS = [("gcc", "c", "-std=c11"), ("clang", "c", "-std=c11"), ("g++", "c++", "-std=c++11"),
             ("clang++", "c++", "-std=c++17")]


BOTH = pytest.mark.parametrize("source", [SOURCE, TRACES], ids=["span.h", "context.h"])


@BOTH
@pytest.mark.parametrize("compiler, language, standard", COMPILERS)
def test_off_leaves_nothing(tmp_path, compiler, language, standard, source):
    text = compile_to_assembler(tmp_path, compiler, language, standard, "-DVT_OFF", text=source)
    assert "vt_" not in text
    assert "costly" not in text.replace("_Z6costlyv", "").replace(".globl\tcostly", ""), "values are not computed"


@pytest.mark.parametrize("compiler, language, standard", COMPILERS)
def test_on_compiles_cleanly(tmp_path, compiler, language, standard):
    assert "vt_scope_open" in compile_to_assembler(tmp_path, compiler, language, standard)
    assert "vt_trace_open" in compile_to_assembler(tmp_path, compiler, language, standard, text=TRACES)


def test_cpp_program(record):
    run = record("templates")
    assert run.code == 0, run.done.stderr
    recording = run.recording
    assert recording.spans() == {"main": 1, "twice": 3, "fail": 10, "lambda": 1}
    assert recording.query("SELECT count(*) AS n FROM spans WHERE NOT finished")[0]["n"] == 0
    values = [row["value"] for row in recording.query("SELECT value FROM attributes WHERE key = 'value'")]
    assert values == [1, 2.5, 3]
    assert recording.query("SELECT count(*) AS n FROM spans WHERE error IS NOT NULL")[0]["n"] == 10
