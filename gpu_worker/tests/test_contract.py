"""A class that breaks the contract is a contract error, with advice on what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_worker.exercises import get
from gpu_worker.tests.conftest import Grade


def layernorm() -> str:
    path = get("layernorm").folder / "submissions" / "correct" / "vectorised.py"
    return Path(path).read_text(encoding="utf-8")


def changed(source: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


READ_ONLY = "    @property\n    def {0}(self):\n        return self._{0}\n\n    def forward"
RMSNORM = {
    "gamma under another name": (
        [("self.gamma", "self.weight")],
        "Your class has no attribute gamma once it is made. It has weight: what is called so "
        "elsewhere is gamma here. Set self.gamma in __init__",
    ),
    "gamma without setter": (
        [("self.gamma", "self._gamma"), ("    def forward", READ_ONLY.format("gamma"))],
        "The attribute gamma of your class cannot be set",
    ),
    "dgamma under another name": (
        [("self.dgamma", "self.grad")],
        "After backward, your class has no attribute dgamma. Set self.dgamma in backward.",
    ),
    "gamma under a name of its own": (
        [("self.gamma", "self.factor")],
        "Your class has no attribute gamma once it is made. Set self.gamma in __init__",
    ),
    "dgamma as elsewhere": (
        [("self.dgamma", "self.grad_weight")],
        "no attribute dgamma. It has grad_weight: what is called so elsewhere is dgamma here.",
    ),
    "dgamma never set": (
        [("self.dgamma =", "self.dgamma = None; unused =")],
        "dgamma is None. Set self.dgamma in backward.",
    ),
    "forward returns nothing": (
        [("return (self.xhat * self.gamma)", "y = (self.xhat * self.gamma)")],
        "y is None. Let forward return it.",
    ),
    "y of an empty slice": (
        [("return (self.xhat * self.gamma)", "return (self.xhat * self.gamma)[len(x) :]")],
        "y has shape (0, 4), but it must be (1, 4) for an x of shape (1, 4).",
    ),
    "y of many times the size of x": (
        [("return (self.xhat * self.gamma)", "return np.repeat(self.xhat * self.gamma, 9999, 0)")],
        "y has shape (9999, 4), but it must have the shape and the dtype that the contract gives.",
    ),
    "dim under another name": ([("dim", "size")], "by a call with (dim=...)"),
    "a constructor as elsewhere": (
        [
            ("dim, eps=1e-6", "normalized_shape, eps=1e-6, affine=True"),
            ("(dim", "(normalized_shape"),
        ],
        "under their names and in their order: write def __init__(self, dim, eps=1e-6). Others "
        "need a default.",
    ),
    "no dim": ([("self, dim, eps", "self, eps"), ("np.ones(dim", "np.ones(4")], "a call with (dim"),
    "no eps": ([(", eps=1e-6", ""), ("= eps", "= 1e-6")], "by a call with (dim, eps)"),
    "eps as epsilon": (
        [("eps=1e-6", "epsilon=1e-6"), ("= eps", "= epsilon")],
        "got an unexpected keyword argument 'eps'",
    ),
    "x made read-only": (
        [("self.dtype = x.dtype", "self.dtype = x.dtype; x.setflags(write=False)")],
        "The caller can no longer write to x: its flags or its shape were changed",
    ),
    "y in another byte order": (
        [("* self.gamma).astype(self.dtype)", "* self.gamma).astype(self.dtype.newbyteorder())")],
        "whose bytes are in the other order than this machine's. Convert it: "
        "y.astype(y.dtype.newbyteorder('='))",
    ),
    "keywords only": ([("self, dim", "self, *, dim")], "by a call with (dim, eps)"),
    "forward with one argument more": (
        [("forward(self, x)", "forward(self, x, weights)")],
        "forward cannot be called as the grader calls it",
    ),
    "backward with none": (
        [("backward(self, dout)", "backward(self)"), ("d = dout.astype", "d = self.xhat.astype")],
        "backward cannot be called as the grader calls it",
    ),
}
LAYERNORM = {
    "beta under another name": (
        [("self.beta", "self.bias")],
        "no attribute beta once it is made. It has bias: what is called so elsewhere is beta here.",
    ),
    "beta without setter": (
        [("self.beta", "self._beta"), ("    def forward", READ_ONLY.format("beta"))],
        "The attribute beta of your class cannot be set",
    ),
    "dbeta under another name": ([("self.dbeta", "self.shift_grad")], "no attribute dbeta"),
}


@pytest.mark.parametrize("name", RMSNORM)
def test_a_missing_part_of_the_contract_is_named(name: str, grade: Grade, right: str) -> None:
    changes, sentence = RMSNORM[name]
    graded = grade(changed(right, *changes))
    assert graded.outcome == "contract_error"
    assert graded.report.failure is not None
    assert sentence in graded.report.failure.message
    assert graded.report.mistakes == []


@pytest.mark.parametrize("name", LAYERNORM)
def test_a_missing_second_parameter_is_named_too(name: str, grade: Grade) -> None:
    changes, sentence = LAYERNORM[name]
    graded = grade(changed(layernorm(), *changes), "layernorm")
    assert graded.outcome == "contract_error"
    assert graded.report.failure is not None
    assert sentence in graded.report.failure.message


def test_a_wrongly_named_argument_fails_alike_in_every_group(grade: Grade, right: str) -> None:
    changes, _ = RMSNORM["eps as epsilon"]
    graded = grade(changed(right, *changes))
    assert graded.score == 0.0
    assert not any(group.passed for group in graded.report.groups)


@pytest.mark.parametrize(
    "line", ["len(5)", "self.forward(1, 2, 3)", "np.zeros(2, 3, 4, 5)", "None()"]
)
def test_a_type_error_raised_in_the_body_is_a_runtime_error(
    line: str, grade: Grade, right: str
) -> None:
    graded = grade(changed(right, ("        d = dout", f"        {line}\n        d = dout")))
    assert graded.outcome == "runtime_error"
    assert graded.report.failure is not None
    assert "Your code raised TypeError in backward." in graded.report.failure.message
    assert graded.report.failure.line == 18


def test_a_setter_that_raises_is_a_runtime_error(grade: Grade, right: str) -> None:
    setter = READ_ONLY.format("gamma").replace(
        "    def forward",
        "    @gamma.setter\n    def gamma(self, value):\n        raise AttributeError\n\n"
        "    def forward",
    )
    graded = grade(changed(right, ("self.gamma", "self._gamma"), ("    def forward", setter)))
    assert graded.outcome == "runtime_error"


@pytest.mark.parametrize(
    "change",
    [
        ("self, dim, eps=1e-6", "self, dim: int, eps: float = 1e-6, *, axis=-1"),
        ("self, dim, eps=1e-6", "self, dim, eps=1e-6, dtype=np.float32"),
        ("forward(self, x)", "forward(self, x, training=True)"),
    ],
)
def test_further_parameters_with_defaults_are_allowed(
    change: tuple[str, str], grade: Grade, right: str
) -> None:
    assert grade(changed(right, change), timed=False).outcome == "accepted"
