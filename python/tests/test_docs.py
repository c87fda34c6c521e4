"""The examples of all docstrings run."""

import doctest
import inspect

import pytest

import tabia
import tabia.errors
import tabia.polyglot


def documented():
    for module in (tabia, tabia.errors, tabia.polyglot):
        yield module.__name__, module
        for name in module.__all__:
            member = getattr(module, name)
            yield f"{module.__name__}.{name}", member
            if inspect.isclass(member):
                for inner, method in vars(member).items():
                    if not inner.startswith("_"):
                        yield f"{module.__name__}.{name}.{inner}", method


ALL = [(name, member) for name, member in documented() if not isinstance(member, str)]


@pytest.mark.parametrize("name, member", ALL, ids=[name for name, _ in ALL])
def test_examples(name, member):
    assert member.__doc__, f"{name} says nothing about itself"
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(member), {}, name, None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_there_are_examples():
    assert sum(">>>" in (member.__doc__ or "") for _, member in ALL) > 15
