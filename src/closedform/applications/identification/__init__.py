"""Identification: from logs of a robot to its parameters (`cf.identification`).

    read      a file or arrays as the log of a robot
    diagnose  what is wrong with a log, before anything is fitted
    Signals   what is done to its signals: clock, filter, derivatives, decimation
"""

from closedform.applications.identification.logs.log import Log as Log
from closedform.applications.identification.logs.log import Samples as Samples
from closedform.applications.identification.logs.read import read as read
