"""An identified robot in files: TOML with all that was found, and where it came from."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from pathlib import Path

from closedform.applications.identification.estimate.found import Fit
from closedform.applications.identification.verdict import Verdict
from closedform.version import __version__


def toml_text(fit: Fit, verdict: Verdict | None = None) -> str:
    """All that was found: provenance, bodies, joints with rotors and friction, intervals, gains."""
    info, model = fit.info, fit.model
    lines = [f"# {model.robot.name}, identified by closedform {__version__}", "",
             "[identification]", f"robot = {_text(model.robot.name)}",
             f"date = {datetime.date.today().isoformat()}", f"method = {_text(fit.method)}",
             f"logs = {_list(map(_text, info.logs))}",
             f"signals = {_list(map(_text, info.notes))}",
             f"prior_weight = {_number(fit.weight)}",
             f"total_error_percent = {_number(fit.total)}"]
    if verdict is not None:
        lines += [f"holds = {str(verdict.holds).lower()}",
                  f"reasons = {_list(map(_text, verdict.reasons))}"]
    values = dict(zip(model.standard_names, map(float, fit.standard), strict=True))
    for body in model.body.bodies:
        own = {n.rpartition(".")[2]: x for n, x in values.items()
               if n.rpartition(".")[0] == body.name and n.rpartition(".")[2] in TEN}
        lines += ["", "[[body]]", f"name = {_text(body.name)}",
                  *(f"{k} = {_number(x)}" for k, x in own.items())]
    joints: dict[str, dict[str, float]] = {}
    for name, x in values.items():
        joint, _, kind = name.rpartition(".")
        if kind not in TEN:
            joints.setdefault(joint, {})[kind] = x
    for joint, gain in fit.gains.items():
        joints.setdefault(joint, {})["gain"] = gain
    for joint, numbers in joints.items():
        lines += ["", "[[joint]]", f"name = {_text(joint)}",
                  *(f"{k} = {_number(x)}" for k, x in numbers.items())]
    for row in fit.table:
        lines += ["", "[[unknown]]", f"name = {_text(row.name)}", f"value = {_number(row.value)}",
                  f"sd = {_number(row.sd)}", f"interval = [{_number(row.low)}, "
                  f"{_number(row.high)}]", f"prior = {_number(row.prior)}",
                  f"identified = {str(row.identified).lower()}",
                  f"essential = {str(row.essential).lower()}"]
        if row.name in fit.advice:
            lines.append(f"motion = {_text(fit.advice[row.name])}")
    return "\n".join(lines) + "\n"


TEN = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def write_toml(fit: Fit, path: str | Path, verdict: Verdict | None = None) -> Path:
    """`toml_text` in a file."""
    target = Path(path)
    target.write_text(toml_text(fit, verdict), encoding="utf8")
    return target


def _number(x: float) -> str:
    if math.isnan(x):
        return "nan"
    return repr(float(x)) if math.isfinite(x) else ("inf" if x > 0 else "-inf")


def _text(text: str) -> str:
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}"
                      if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in text)
    return f'"{escaped}"'


def _list(items: Iterable[str]) -> str:
    return "[" + ", ".join(items) + "]"
