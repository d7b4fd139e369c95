"""The mutants of a module: its source with one expression changed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
}
EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "floor": "ceil", "ceil": "floor"}
CLIPS = {"min", "max", "minimum", "maximum"}
# Messages, types, names and what only a type checker reads decide nothing.
SKIPPED = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One change of a file."""

    path: Path
    line: int
    old: str
    new: str
    source: str

    def __str__(self) -> str:
        return f"{self.path.as_posix()}:{self.line}  {self.old}  ->  {self.new}"


def mutants(path: Path, source: str) -> list[Mutant]:
    """Return every mutant of a module; ``path`` is only its name.

    Examples
    --------
    >>> from pathlib import Path
    >>> for mutant in mutants(Path("one.py"), "def f(x):\\n    return max(x - 2, 0)\\n"):
    ...     print(mutant)
    one.py:2  return max(x - 2, 0)  ->  return 0.0
    one.py:2  max(x - 2, 0)  ->  (min(x - 2, 0))
    one.py:2  max(x - 2, 0)  ->  (x - 2)
    one.py:2  x - 2  ->  (x + 2)
    one.py:2  2  ->  4
    one.py:2  0  ->  1
    """
    lines = source.encode().splitlines(keepends=True)
    starts = [sum(len(line) for line in lines[:k]) for k in range(len(lines))]
    code = b"".join(lines)
    result = []
    for node, changed in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        plain = isinstance(changed, (ast.Name, ast.Constant, ast.stmt))
        new = ast.unparse(changed) if plain else f"({ast.unparse(changed)})"
        text = code[:start] + new.encode() + code[end:]
        old = " ".join(code[start:end].decode().split())
        result.append(Mutant(path, node.lineno, old, new, text.decode()))
    return result


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr | ast.stmt]]:
    if isinstance(node, SKIPPED) or _is_text_or_types(node):
        return
    if isinstance(node, ast.expr):
        for changed in _changed_expressions(node):
            yield node, changed
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        yield node, ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield node, ast.Return(ast.Constant(0.0))
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child)


def _is_text_or_types(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _changed_expressions(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from _changed_constants(node.value)
    elif isinstance(node, ast.Call):
        yield from _changed_calls(node)


def _changed_constants(value: object) -> Iterator[ast.expr]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, (int, float)):
        yield ast.Constant(type(value)(1) if value == 0 else type(value)(0) if value == 1 else 2 * value)


def _changed_calls(node: ast.Call) -> Iterator[ast.expr]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in EXTREMES:
        new = EXTREMES[name]
        function = ast.Attribute(node.func.value, new) if isinstance(node.func, ast.Attribute) else ast.Name(new)
        yield ast.Call(function, node.args, node.keywords)
    if name in CLIPS and len(node.args) == 2 and not node.keywords:
        # Without the clip: what is compared with a number stays alone.
        for other, limit in (node.args, node.args[::-1]):
            if isinstance(limit, ast.Constant) and not isinstance(other, ast.Starred):
                yield other
