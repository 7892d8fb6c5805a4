"""The Dockerfiles of the tool and of a new step. No daemon is needed, and none is asked: what they do is done in a folder with the files of the packages that they name.

What is left out: the base image itself, and the compilation, which takes long; the tool is the one that is tested everywhere.
"""
import os
import shutil
import subprocess

import pytest
from dockerfile import Root, closure, instructions, stages, unknown, wanted_packages
from stepping import BUILD, TOP, VENTURI, environment, query, run

BUILT_BY = {"prefix": "/usr", "libdir": "lib", "buildtype": "release", "werror": "false"}


def read(*names):
    with open(os.path.join(*map(str, names))) as file:
        return file.read()


def of_tool():
    return stages(read(TOP, "deploy", "Dockerfile"))


@pytest.fixture(scope="module")
def new_step(tmp_path_factory):
    folder = tmp_path_factory.mktemp("step")
    run([VENTURI, "new-step", "my_step"], cwd=folder, env=environment())
    return folder / "my_step"


def need_debian():
    if not os.path.exists("/etc/debian_version") or not read("/etc/debian_version").startswith("12") or not shutil.which("apt-cache"):
        pytest.skip("the images are of Debian 12, this machine is not")


# ---- what they name ------------------------------------------------------------------------------


def test_packages_have_these_names(new_step):
    need_debian()
    if unknown(["gcc"]):
        pytest.skip("apt has no lists of packages")
    names = [name for stage in of_tool().values() for name in wanted_packages(stage)] + wanted_packages(instructions(read(new_step, "Dockerfile")))
    assert len(names) > 20 and unknown(names) == []


def test_what_is_copied_is_there(new_step):
    tool = of_tool()
    assert list(tool) == ["build", "1"] and all(stage[0][1].startswith("debian:12-slim") for stage in tool.values())
    assert [rest for stage in tool.values() for word, rest in stage if word == "COPY"] == [". /source", "--from=build /installed/usr/ /usr/"]
    for word, rest in instructions(read(new_step, "Dockerfile")):
        if word == "COPY":
            assert (new_step / rest.split()[0]).exists()
        if word == "CMD":
            assert (new_step / rest[0]).exists()
    ignored = read(TOP, ".dockerignore").split("\n")
    assert ".git" in ignored and "build" in ignored and "src" not in ignored and "web" not in ignored, "the page in web/dist is compiled in"


def test_options_of_the_build_exist():
    """As meson knows them, and that a warning of another compiler does not end it."""
    command, = [rest for word, rest in of_tool()["build"] if word == "RUN" and "meson setup" in rest]
    assert all(("--%s=%s" % each) in command or ("-D%s=%s" % each) in command for each in BUILT_BY.items())
    assert "meson install -C /build --destdir=/installed" in command


# ---- what they do --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def image(new_step, tmp_path_factory):
    """What an image of a step has in it: packages of both Dockerfiles, the tool, the step."""
    need_debian()
    if os.geteuid():
        pytest.skip("only root can change its root")
    if os.environ.get("VENTURI_SANITIZE"):
        pytest.skip("the tool that is installed has no sanitizer")
    wanted = wanted_packages(of_tool()["1"]) + wanted_packages(instructions(read(new_step, "Dockerfile")))
    if closure(wanted)[1]:
        pytest.skip("not on this machine: " + ", ".join(sorted(closure(wanted)[1])))
    folder = tmp_path_factory.mktemp("image")
    done = subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder / "installed"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not to be installed: " + done.stdout[-200:])
    root = Root(folder / "root", wanted)
    shutil.copytree(folder / "installed" / "usr", root.path("usr"), dirs_exist_ok=True, symlinks=True)
    root.run(["ldconfig"])
    return root


def test_libraries_of_all_that_is_installed_are_there(image):
    """Those of the second stage: a package that is forgotten there is one that is found only when a command needs it."""
    script = "find /usr/local/bin /usr/local/lib* -type f | while read f; do head -c4 \"$f\" | grep -q ELF && ldd \"$f\" 2>&1 | sed \"s|^|$f: |\"; done; true"
    said = image.run(["sh", "-c", script]).stdout
    missing = [line for line in said.splitlines() if "not found" in line]
    # StarPU is not in the first stage, so that what needs it is not built there.
    assert [line for line in missing if "libventuri-starpu" not in line] == []
    assert "venturi-ship" in said


def test_a_step_runs_in_its_image(image, new_step):
    """Every instruction, as docker does it: WORKDIR and COPY belong to root, RUN and CMD are the user's."""
    folder, user, env, entry, command = "/", None, {}, None, None
    for word, rest in of_tool()["1"] + instructions(read(new_step, "Dockerfile")):
        if word == "RUN":
            # Packages are there already; what else stands in the line is done.
            for part in rest.split(" && "):
                if "apt-get" not in part and "apt/lists" not in part:
                    image.run(["sh", "-c", part], folder=folder, user=user, **env)
        elif word == "USER":
            user = None if rest == "root" else rest
        elif word == "WORKDIR":
            folder = rest
            os.makedirs(image.path(rest), exist_ok=True)
        elif word == "COPY" and "--from" not in rest:
            what = rest.split()[0]
            target = image.path(folder)
            if what == ".":
                shutil.copytree(new_step, target, dirs_exist_ok=True)
            else:
                shutil.copy(new_step / what, target)
        elif word == "ENV":
            name, value = rest.split("=", 1)
            env[name] = value
        elif word == "ENTRYPOINT":
            entry = rest
        elif word == "CMD":
            command = rest
    assert user == "venturi"
    done = image.run(entry + command, folder=folder, user=user, **env)
    assert "8 step records, 0 lost" in done.stderr
    assert len(read(image.path("data", "results.jsonl")).splitlines()) == 40
    spool = image.path("data", "spool")
    assert sum(query(os.path.join(spool, name), "select sum(messages) as n from steps")[0]["n"] for name in os.listdir(spool) if name.endswith(".vt")) == 40
    done = image.run(entry + ["scripts/run_multiprocess.py"], folder=folder, user=user, **env)
    assert "8 step records, 0 lost" in done.stderr
    assert "Usage: venturi" in image.run(["venturi", "--help"], user=user).stdout
