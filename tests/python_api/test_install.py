"""`pip install .` into a fresh environment, away from the source: the wheel has all it needs."""
import os
import shutil
import subprocess

import pytest
from conftest import TOP, environment
from interpreters import VERSIONS, find, python_or_skip


def newest():
    return next((version for version in reversed(VERSIONS) if find(version)[0]), VERSIONS[-1])


def pip_environment():
    """As environment(), with the settings that pip needs to reach its packages."""
    return environment(**{key: value for key, value in os.environ.items() if key.startswith("PIP_")})


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of an environment with Venturi in it."""
    if os.environ.get("VENTURI_SANITIZE"):
        pytest.skip("one configuration is enough")
    version = os.environ.get("VENTURI_INSTALL_PYTHON", newest())
    python = python_or_skip(version)
    folder = tmp_path_factory.mktemp("install")
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True, env=environment())
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "download", "-q", "--no-deps", "-d", folder / "probe", "meson-python"],
                          env=pip_environment(), capture_output=True, text=True)
    if done.returncode:
        pytest.skip("meson-python, which builds the wheel, cannot be downloaded from here")
    source = folder / "source"
    shutil.copytree(TOP, source, ignore=shutil.ignore_patterns("build", ".git", "__pycache__", "*.vt"))
    done = subprocess.run([*pip, "install", source], env=pip_environment(), capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    shutil.rmtree(source)
    return folder / "venv"


def test_tool_and_module(installed, tmp_path):
    (tmp_path / "script.py").write_text("import sys\ndef f(): pass\nfor _ in range(10): f()\nprint(sys.argv)\nsys.exit(3)\n")
    read = "import venturi; print([row.ncalls for row in venturi.Stats('x.vt').rows() if row.name == 'f'])"
    for command in ([installed / "bin" / "venturi"], [installed / "bin" / "python", "-m", "venturi"]):
        done = subprocess.run([*command, "run", "-qfo", "x.vt", "script.py", "a"], cwd=tmp_path, capture_output=True,
                              text=True, env=environment())
        assert (done.returncode, done.stdout, done.stderr) == (3, "['script.py', 'a']\n", "")
        done = subprocess.run([installed / "bin" / "python", "-c", read], cwd=tmp_path, capture_output=True, text=True,
                              env=environment())
        assert done.stdout == "[10]\n", done.stderr


def test_profile(installed, tmp_path):
    code = ("import venturi\ndef f(): pass\nwith venturi.Profile() as p:\n  for _ in range(5): f()\n"
            "print([row.ncalls for row in p.stats().rows() if row.name == 'f'])")
    done = subprocess.run([installed / "bin" / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env=environment())
    assert (done.stdout, done.stderr) == ("[5]\n", "")


def test_doctor_finds_its_parts(installed, tmp_path):
    done = subprocess.run([installed / "bin" / "venturi", "doctor"], cwd=tmp_path, capture_output=True, text=True,
                          env=environment())
    assert done.returncode == 0, done.stdout
    assert "libventuri.so.1 is not" not in done.stdout and "venturi-drain is not" not in done.stdout


def test_types_come_with_it(installed):
    package = next(installed.glob("lib/python3*/site-packages/venturi"))
    assert (package / "py.typed").exists() and (package / "_venturi.pyi").exists()
    names = {path.name for path in package.iterdir()}
    assert {"_inject", "_tool", "libventuri.so.1", "__init__.py"} <= names
    assert len(list(package.glob("_venturi.cpython-*.so"))) == 1
