"""The folder Data: a robot's file or a log, dropped on the page; lint, playback, identification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from closedform.applications.studio import cells, fitting, recording
from closedform.applications.studio.panels.model import finding_list, robot_lint
from closedform.applications.studio.subject import StudioRobot
from closedform.applications.studio.uploads import Upload, read_upload
from closedform.model.lint.repair import Repaired, repaired

if TYPE_CHECKING:
    from closedform.interfaces.studio.session import Session


@final
class DataControls:
    """What comes from outside."""

    def __init__(self, session: Session) -> None:
        self.session, gui = session, session.client.gui
        self.log: Upload | None = None
        with gui.add_folder("Data", expand_by_default=False):
            self.button = gui.add_upload_button("Open a robot or a log …")
            self.button.on_upload(lambda e: self._arrived(self.button.value))
            self.found = gui.add_html("")
            self.repair = gui.add_button("Open the repaired robot",
                                         visible=bool(self._repaired().changes))
            self.repair.on_click(lambda e: session.later("repair", self._open_repaired))
            self.fit = gui.add_button("Identify the robot from the log", visible=False)
            self.fit.on_click(lambda e: self._identify())

    def _arrived(self, file: Any) -> None:
        session, name, content = self.session, file.name, file.content
        told = session.client.add_notification("Reading", cells_plain(name), loading=True)

        def job() -> None:
            try:
                self._opened(read_upload(name, content, session.subject.robot))
            except ValueError as error:
                self._say("refused", f'<p class="bad">{cells.escape(error, cells.SENTENCE)}'
                          "</p>")
                raise
            finally:
                told.remove()
        session.later(f"reading of {cells_plain(name)}", job)

    def _repaired(self) -> Repaired:
        return repaired(self.session.subject.robot)

    def _open_repaired(self) -> None:
        made, before = self._repaired(), self.session.subject
        subject = StudioRobot(made.robot, before.source, before.visuals, is_repaired=True,
                              **before.loading)
        subject.places(subject.tip)
        changes = "".join(f"<li>{cells.escape(x)}</li>" for x in made.changes)
        self.session.open(subject, f'<p class="good">repaired</p><ul>{changes}</ul>'
                          + finding_list(robot_lint(made.robot)))

    def _opened(self, upload: Upload) -> None:
        session = self.session
        if upload.refused:
            self._say("refused", f'<p class="bad">{cells.escape(upload.name)} cannot be loaded</p>'
                      + finding_list(upload.findings) + _notes(upload))
            session.tell("Not opened", f"{cells_plain(upload.name)}: what is wrong stands in Data")
            return
        if upload.robot is not None:
            subject = StudioRobot(upload.robot, upload.name)    # of this client alone
            subject.places(subject.tip)
            session.open(subject, finding_list(upload.findings) + _notes(upload))
            return
        self.log = upload
        made = recording.of_rows(session.subject, session.state, upload.samples, upload.name)
        self.fit.visible = upload.samples.tau is not None
        self._say("log", f"<p>{cells.escape(upload.name)}: {len(upload.samples.t)} rows</p>"
                  + _notes(upload))
        session.ask("record", made)

    def said(self, inner: str) -> None:
        """What was found in the robot's file."""
        self._say("lint", inner)

    def _say(self, key: str, inner: str) -> None:
        self.found.content = cells.framed(f"data-{key}", key, inner, self.session.serial)

    def _identify(self) -> None:
        session, log = self.session, self.log
        if log is None:
            return
        told = session.client.add_notification("Identification", "the parameters are estimated",
                                               loading=True)

        def job() -> None:
            try:
                self._say("identification",
                          fitting.page(fitting.fitted(session.subject.robot, log.samples)))
            finally:
                told.remove()
        session.later("identification", job)


def _notes(upload: Upload) -> str:
    if not upload.notes:
        return ""
    lines = (f"<li>{cells.escape(x, cells.SENTENCE)}</li>" for x in upload.notes[:20])
    return f"<ul>{''.join(lines)}</ul>"


def cells_plain(name: str) -> str:
    """A file's name for a notification, which is text and no markup."""
    return "".join(c for c in name if c.isprintable())[:80]
