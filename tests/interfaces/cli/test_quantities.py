import json

from typer.testing import CliRunner

import closedform as cf
from closedform.interfaces.cli.main import app

CALL = CliRunner()


def test_every_row_of_every_catalogue_is_listed():
    told = CALL.invoke(app, ["quantities"], env={"COLUMNS": "250"}).output
    for rows in cf.CATALOGUES.values():
        assert all(f"\n{row.name} " in told for row in rows)


def test_rows_of_one_kind_as_json_say_all_about_them():
    done = CALL.invoke(app, ["quantities", "robots", "--json"])
    told = {row["name"]: row for row in json.loads(done.output)}
    assert list(told) == [row.name for row in cf.CATALOGUE]
    assert told["mass_matrix"]["outputs"] == {"mass_matrix": ["nv", "nv"]}
    assert {"by": "q", "row": "state_derivatives", "field": "dM_dq"} in (
        told["mass_matrix"]["derivatives"])


def test_an_unknown_kind_is_told_which_there_are():
    done = CALL.invoke(app, ["quantities", "bicycles"])
    assert done.exit_code == 2 and "flexible-arms" in done.stderr
