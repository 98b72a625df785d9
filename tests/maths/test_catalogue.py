"""The rows of all catalogues: shapes, derivatives and names are what they say."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.catalogue import CATALOGUES, gradient, quantity
from closedform.maths.elastic.catalogue import ELASTIC_CATALOGUE
from closedform.maths.flexible.catalogue import FLEXIBLE_CATALOGUE
from random_robots import random_robot

ROWS = [row for rows in CATALOGUES.values() for row in rows]
MODELS = {
    cf.Robot: random_robot(3, ("revolute", "prismatic", "helical", "universal"), bodies=8,
                           spread=1),
    cf.FlexibleArm: cf.flexible.load("deluca_siciliano"),
    cf.ElasticJoints: cf.ElasticJoints(cf.load("planar2r"), [80.0, 60.0], 0.01, 0.5),
}
STEP = 1e-30


def named(row):
    return f"{row.of.model.__name__} {row.name}"


def arguments(row, seed=1):
    rng, model = np.random.default_rng(seed), MODELS[row.of.model]
    values = {name: 0.3 * rng.normal(size=shape)
              for name, shape in row.input_shapes(model).items()}
    return {**values, **({"frame": "tool"} if row.framed else {})}


def evaluated(row, values, model=None):
    model = model or MODELS[row.of.model]
    named = {"frame": values["frame"]} if row.framed else {}
    result = row.definition(model, *(values[name] for name in row.inputs), **named)
    return {name: np.asarray(getattr(result, name) if row.fields else result)
            for name, _ in row.outputs}


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_results_have_the_shapes_that_the_row_says(row):
    found = {name: x.shape for name, x in evaluated(row, arguments(row)).items()}
    assert found == row.output_shapes(MODELS[row.of.model])


@pytest.mark.parametrize("rows", CATALOGUES.values(), ids=lambda rows: rows[0].of.noun)
def test_names_differ_and_a_row_is_found_by_its_name_and_model(rows):
    assert len({row.name for row in rows}) == len(rows)
    assert all(quantity(row.name, row.of.model) is row for row in rows)
    assert all(len(row.summary) > 10 for row in rows)


DERIVED = [(row, partial) for row in ROWS for partial in row.derivatives]


@pytest.mark.parametrize("row, partial", DERIVED, ids=lambda x: getattr(x, "name", None) or x.by)
def test_derivatives_are_where_the_row_says(row, partial):
    """Complex step along every direction; along the motion for t; linearity for π."""
    model, values = MODELS[row.of.model], arguments(row)
    there = quantity(partial.row, row.of.model)
    values = {**arguments(there), **values}
    expected = evaluated(there, {k: v for k, v in values.items() if k in there.inputs
                                 or k == "frame"})[partial.field]
    (name, _), = row.outputs

    def slope(changed, robot=None):
        return np.imag(evaluated(row, {**values, **changed}, robot)[name]) / STEP

    if partial.by == "t":
        rates = {"q": "v", "v": "a"}
        found = slope({x: values[x] + 1j * STEP * values[rates[x]] for x in row.inputs
                       if x in rates})
    elif partial.by == "pi":
        found = np.stack([evaluated(row, values, model.with_parameters(e))[name]    # linear in π
                          for e in np.eye(len(model.parameters))], axis=-1)
    else:
        x = values[partial.by]
        found = np.stack([slope({partial.by: x + 1j * STEP * e}) for e in np.eye(len(x))], axis=-1)
    np.testing.assert_allclose(found, expected, atol=1e-11 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("row", [row for row in ROWS if row.jvp or row.vjp], ids=named)
def test_products_take_directions_of_all_inputs_and_give_weights_of_all(row):
    along, back = (quantity(name, row.of.model) for name in (row.jvp, row.vjp))
    assert along.inputs == (*row.inputs, *(f"{name}_dot" for name in row.inputs))
    assert along.shape == row.shape
    assert back.inputs[:-1] == row.inputs and back.inputs[-1].endswith("_bar")
    assert [name for name, _ in back.outputs] == [f"{name}_bar" for name in row.inputs]
    assert row.wrenches == along.wrenches == back.wrenches


def test_gradients_are_whole():
    assert gradient(quantity("inverse_dynamics")) is quantity("inverse_dynamics_derivatives")
    assert gradient(quantity("potential_energy")) is quantity("gravity_torque")
    assert gradient(quantity("kinetic_energy")) is None         # by v alone
    assert gradient(quantity("coriolis_matrix")) is None        # two fields of four


def test_unknown_quantities_are_told_with_the_nearest():
    with pytest.raises(cf.UnknownName, match="of robots; did you mean 'mass_matrix'"):
        quantity("mass_matrx")
    with pytest.raises(cf.UnknownName, match="of elastic joints; there are motor_torque"):
        quantity("nothing of the kind", cf.ElasticJoints)


def test_rows_of_other_models_are_rows_like_all():
    for rows in (FLEXIBLE_CATALOGUE, ELASTIC_CATALOGUE):
        assert {type(row) for row in rows} == {type(cf.CATALOGUE[0])}
