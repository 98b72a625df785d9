"""Rotations SO(3) and rigid motions SE(3): exponentials, logarithms and their Jacobians."""

from closedform.model.groups.matrices import exp_se3 as exp_se3
from closedform.model.groups.matrices import exp_so3 as exp_so3
from closedform.model.groups.matrices import left_jacobian_se3 as left_jacobian_se3
from closedform.model.groups.matrices import left_jacobian_se3_inverse as left_jacobian_se3_inverse
from closedform.model.groups.matrices import left_jacobian_so3 as left_jacobian_so3
from closedform.model.groups.matrices import left_jacobian_so3_inverse as left_jacobian_so3_inverse
from closedform.model.groups.matrices import log_se3 as log_se3
from closedform.model.groups.matrices import log_so3 as log_so3
from closedform.model.groups.matrices import right_jacobian_se3 as right_jacobian_se3
from closedform.model.groups.matrices import (
    right_jacobian_se3_inverse as right_jacobian_se3_inverse,
)
from closedform.model.groups.matrices import right_jacobian_so3 as right_jacobian_so3
from closedform.model.groups.matrices import (
    right_jacobian_so3_inverse as right_jacobian_so3_inverse,
)
