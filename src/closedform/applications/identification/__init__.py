"""From logs to inertial, friction and drive parameters that a robot can have, with a verdict.

    idn = cf.identification
    model = idn.Model(robot)
    fit = idn.fit(idn.information(model, idn.read("run1.mcap", robot)))
    print(idn.verdict(fit, idn.validate(fit, idn.read("run2.mcap", robot))))
"""

from closedform.applications.identification.drives import Drives as Drives
from closedform.applications.identification.estimate.fit import fit as fit
from closedform.applications.identification.estimate.found import Fit as Fit
from closedform.applications.identification.excitation.excite import excite as excite
from closedform.applications.identification.excitation.limits import Limits as Limits
from closedform.applications.identification.excitation.plan import Plan as Plan
from closedform.applications.identification.information import information as information
from closedform.applications.identification.logs.log import Log as Log
from closedform.applications.identification.logs.log import Samples as Samples
from closedform.applications.identification.logs.read import read as read
from closedform.applications.identification.model import Friction as Friction
from closedform.applications.identification.model import Model as Model
from closedform.applications.identification.output.files import toml_text as toml_text
from closedform.applications.identification.output.page import write_page as write_page
from closedform.applications.identification.signals.diagnosis import Diagnosis as Diagnosis
from closedform.applications.identification.signals.diagnosis import diagnose as diagnose
from closedform.applications.identification.signals.filter import Window as Window
from closedform.applications.identification.signals.signals import Prepared as Prepared
from closedform.applications.identification.signals.signals import Signals as Signals
from closedform.applications.identification.triangles import Information as Information
from closedform.applications.identification.validate import Validation as Validation
from closedform.applications.identification.validate import validate as validate
from closedform.applications.identification.verdict import Verdict as Verdict
from closedform.applications.identification.verdict import verdict as verdict
