"""Studies of robots whose numbers vary: one compiled kernel for all of them (`cf.studies`).

    monte_carlo   a quantity over a distribution of inertial parameters, as an identification gives
    sweep         a quantity over designs: lengths, masses, loads, on a grid or a sample

    spread = cf.studies.monte_carlo(robot, "inverse_dynamics", fit.distribution, (q, v, a))
    found = cf.studies.sweep(robot, "gravity_torque", [Length("link3", (0.8, 1.0, 1.2))], (q,))
"""

from closedform.applications.studies.designs import Length as Length
from closedform.applications.studies.designs import Load as Load
from closedform.applications.studies.designs import Mass as Mass
from closedform.applications.studies.distributions import Distribution as Distribution
from closedform.applications.studies.distributions import Normal as Normal
from closedform.applications.studies.distributions import Uniform as Uniform
from closedform.applications.studies.monte_carlo import MonteCarlo as MonteCarlo
from closedform.applications.studies.monte_carlo import monte_carlo as monte_carlo
from closedform.applications.studies.sweeps import Sweep as Sweep
from closedform.applications.studies.sweeps import sweep as sweep
