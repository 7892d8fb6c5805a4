"""Calls are counted exactly as cProfile counts them, where cProfile is right: in one thread."""
import ast
import os

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "work.py")) as file:
    WORK = [node.name for node in ast.parse(file.read()).body if isinstance(node, ast.FunctionDef)
            and any(isinstance(mark, ast.Name) and mark.id == "work" for mark in node.decorator_list)]


@pytest.mark.parametrize("name", WORK)
def test_functions(python, name):
    assert python.result("counts.py", name) == []


@pytest.mark.parametrize("name", WORK)
def test_builtins(python, name):
    assert python.result("counts.py", name, "builtins") == []


@pytest.mark.parametrize("name", WORK)
def test_beside_cprofile(python, name):
    assert python.result("counts.py", name, "together") == []


@pytest.mark.parametrize("name", WORK)
def test_builtins_beside_cprofile(python, name):
    assert python.result("counts.py", name, "builtins", "together") == []
