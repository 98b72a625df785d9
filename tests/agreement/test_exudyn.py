"""Large deflection against Exudyn's geometrically exact beams; only where Exudyn is installed."""

import numpy as np
import pytest

from closedform.applications.flexible import ExactRotation, FlexibleArm, simulate
from closedform.model.elasticity.beam import FlexibleLink

exu = pytest.importorskip("exudyn", reason="optional: pip install exudyn")
beams = pytest.importorskip("exudyn.beams", reason="optional: pip install exudyn")

LENGTH, DENSITY, STIFFNESS = 0.5, 0.2, 1.0
TIMES = np.linspace(0, 0.4, 81)


def exudyn_tip(load, elements=12):
    """The tip's place (points, 2) of a clamped beam under a sudden load per mass across it."""
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    cable = exu.itemInterface.Cable2D(
        physicsMassPerLength=DENSITY, physicsBendingStiffness=STIFFNESS,
        physicsAxialStiffness=1e4, useReducedOrderIntegration=True)
    nodes, *_ = beams.GenerateStraightLineANCFCable2D(
        mbs=mbs, positionOfNode0=[0, 0, 0], positionOfNode1=[LENGTH, 0, 0],
        numberOfElements=elements, cableTemplate=cable, massProportionalLoad=[0, load, 0],
        fixedConstraintsNode0=[1, 1, 0, 1], fixedConstraintsNode1=[0, 0, 0, 0])
    sensor = mbs.AddSensor(exu.itemInterface.SensorNode(
        nodeNumber=nodes[-1], storeInternal=True,
        outputVariableType=exu.OutputVariableType.Position))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = 4000
    settings.timeIntegration.endTime = TIMES[-1]
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1e-4
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.newton.useModifiedNewton = True
    mbs.SolveDynamic(settings)
    data = mbs.GetSensorStoredData(sensor)
    return np.stack([np.interp(TIMES, data[:, 0], data[:, k]) for k in (1, 2)], axis=1)


def our_tip(load, model):
    """The same beam on a hub too heavy to turn; gravity across it is the load."""
    arm = FlexibleArm([FlexibleLink(LENGTH, DENSITY, STIFFNESS, 0.0, 1e6, 3)], gravity=(0.0, load))
    return simulate(arm, np.zeros(4), times=TIMES, model=model).tip


@pytest.mark.filterwarnings("ignore::closedform.errors.ModelWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("load", "amplitude"), [(5.0, 0.032), (20.0, 0.126)])
def test_exact_rotations_with_foreshortening_follow_a_geometrically_exact_beam(load, amplitude):
    """Across the beam to third order in the deflection, since bending energy is kept to second;
    along it to a tenth of what the tip draws back, all of which is missing without foreshortening.
    """
    exact = exudyn_tip(load) / LENGTH
    back, across = np.max(np.abs(exact - [1, 0]), axis=0)
    np.testing.assert_allclose(across, amplitude, atol=1e-3)
    ours, without = (our_tip(load, ExactRotation(short)) / LENGTH for short in (True, False))
    assert np.max(np.abs(ours - exact)[:, 1]) < 3 * across**3
    assert np.max(np.abs(ours - exact)[:, 0]) < 0.1 * back
    assert np.max(np.abs(without - exact)[:, 0]) > 0.99 * back
