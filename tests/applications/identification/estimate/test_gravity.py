"""The direction of gravity, as something that logs tell."""

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ArgumentError
from measured_runs import other_inertias, run

idn = cf.identification
ROBOT = cf.load("ur5")
FRICTION = idn.Friction("viscous", "coulomb", slip=1e-3)
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)


def fitted(true, file, method="weighted"):
    info = idn.information(idn.Model(file, FRICTION), idn.read(run(true), file), signals=SIGNALS)
    return idn.fit(info, method)


def tilted(degrees):
    turn = np.radians(degrees)
    return ROBOT.with_gravity([9.81 * np.sin(turn), 0, -9.81 * np.cos(turn)])


@pytest.mark.parametrize("degrees", [0.0, 10.0, 180.0])
def test_a_tilted_base_is_found_although_the_file_has_other_masses(degrees):
    found = fitted(tilted(degrees), other_inertias(ROBOT, by=0.2)).gravity
    assert found.told and abs(found.angle - degrees) < max(3 * found.angle_sd, 2.0)
    assert (found.explained > 0.5) == (degrees > 0)


def test_the_verdict_names_a_file_that_is_mounted_otherwise():
    said = idn.verdict(fitted(tilted(20.0), ROBOT, "consistent"))
    assert any("gravity points" in reason for reason in said.reasons)
    assert not any("gravity" in reason for reason in idn.verdict(fitted(ROBOT, ROBOT)).reasons)


def test_where_gravity_makes_no_torque_nothing_is_said_about_it():
    """A rail: whatever pulls at the cart looks like an offset."""
    cart = cf.Body("cart", None, cf.Prismatic((1, 0, 0)),
                   inertia=cf.Inertia(3.0, (0, 0, 0), 0.1 * np.eye(3)))
    rail = cf.Robot("rail", (cart,))
    model = idn.Model(rail, idn.Friction("viscous", "coulomb", "offset", slip=1e-3))
    found = idn.fit(idn.information(model, idn.read(run(rail), rail), signals=SIGNALS),
                    "weighted").gravity
    assert not found.told and np.isinf(found.sd).all() and "do not tell" in str(found)


def test_information_without_logs_is_refused(tmp_path):
    fit = fitted(ROBOT, ROBOT)
    again = idn.Information.load(fit.info.save(tmp_path / "i.npz"), fit.model)
    with pytest.raises(ArgumentError, match="reads the logs again"):
        _ = idn.fit(again, "weighted").gravity
