"""The stubs name what the module has, and the examples in docstrings run."""

import ast
import doctest
import inspect
import pathlib

import pytest

import sinew_physics
from sinew_physics import _scene, _sinew

STUB = pathlib.Path(sinew_physics.__file__).with_name("_sinew.pyi")


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_stubs_name_every_class_function_and_member():
    tree = ast.parse(STUB.read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    there = {name: value for name, value in vars(_sinew).items() if not name.startswith("_")}
    assert public(classes) | public(functions) == set(there)
    for name, value in there.items():
        if not inspect.isclass(value) or issubclass(value, Exception):
            continue
        members = set()
        for node in classes[name].body:
            target = node.target if isinstance(node, ast.AnnAssign) else node
            members.add(target.id if isinstance(target, ast.Name) else node.name)
        assert public(members) == public(vars(value)), name


def test_the_stubs_have_the_parameters_of_the_module():
    tree = ast.parse(STUB.read_text())
    checked = 0
    for scope in [node for node in tree.body if isinstance(node, ast.ClassDef) and hasattr(_sinew, node.name)]:
        for node in scope.body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            value = getattr(getattr(_sinew, scope.name), node.name)
            if not callable(value):
                continue
            own = [p for p in inspect.signature(value).parameters if p != "self"]
            arguments = node.args
            said = [a.arg for a in arguments.args if a.arg not in ("self", "cls")]
            said += [arguments.vararg.arg] if arguments.vararg else []
            said += [a.arg for a in arguments.kwonlyargs] + ([arguments.kwarg.arg] if arguments.kwarg else [])
            assert said == own, f"{scope.name}.{node.name}"
            checked += 1
    assert checked > 30


def test_everything_public_has_a_docstring():
    for name in sinew_physics.__all__:
        value = getattr(sinew_physics, name)
        if inspect.isclass(value):
            assert value.__doc__, name
            for member, what in vars(value).items():
                if not member.startswith("_"):
                    assert getattr(what, "__doc__", None), f"{name}.{member}"


def test_the_examples_in_docstrings_run():
    gym = pytest.importorskip("sinew_physics.gym", exc_type=ImportError)
    fit = pytest.importorskip("sinew_physics.fit", exc_type=ImportError)
    for module in (sinew_physics, _scene, gym, fit):
        result = doctest.testmod(module)
        assert result.attempted and not result.failed, module
