"""The functions of the library give what the scalar functions do, which are written again here."""

import os
import struct

import daft
import pyarrow as pa
import pytest
from daft import col, lit
from daft.exceptions import DaftCoreException

import batched

ROWS = 4_000


def collatz(n, most):
    assert n > 0
    steps = 0
    while n != 1 and steps < most:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def volume(pressure, temperature):
    attraction, own = 0.137, 3.87e-5
    energy = 8.314 * temperature
    v = energy / pressure
    for _ in range(50):
        value = ((pressure * v - pressure * own - energy) * v + attraction) * v - attraction * own
        slope = (3.0 * pressure * v - 2.0 * (pressure * own + energy)) * v + attraction
        step = value / slope
        v -= step
        if abs(step) < 1e-12 * v:
            break
    return v


def area(sharpness, begin, end, tolerance):
    width, middle = end - begin, 0.5 * (begin + end)
    left, right = 0.5 * (begin + middle), 0.5 * (middle + end)

    def height(x):
        return 1.0 / (1.0 + sharpness * x * x)

    ends, centre, quarters = height(begin) + height(end), height(middle), height(left) + height(right)
    coarse = width / 6.0 * (ends + 4.0 * centre)
    fine = width / 12.0 * (ends + 2.0 * centre + 4.0 * quarters)
    if abs(fine - coarse) < 15.0 * tolerance:
        return fine
    return area(sharpness, begin, middle, 0.5 * tolerance) + area(sharpness, middle, end, 0.5 * tolerance)


def bits(value):
    return struct.pack("<d", value) if isinstance(value, float) else value


def or_null(function, *arguments):
    return None if None in arguments else bits(function(*arguments))


def check(table):
    """Compares each row with the scalar functions, bit for bit."""
    rows = table.to_pylist()
    assert sorted(row["id"] for row in rows) == list(range(ROWS))
    nulls = 0
    for row in rows:
        expected = {
            "steps": or_null(collatz, row["n"], 10_000),
            "volume": or_null(volume, row["pressure"], row["temperature"]),
            "area": or_null(area, row["sharpness"], 0.0, 3.0, 1e-7),
        }
        assert {name: bits(row[name]) for name in expected} == expected, row
        nulls += list(expected.values()).count(None)
    assert nulls == sum(len(range(first, ROWS, step)) for first, step in [(7, 101), (3, 89), (5, 97)])


def test_rows_are_those_of_the_scalar_functions():
    table = batched.samples(ROWS).select(
        col("id"),
        col("n"),
        col("pressure"),
        col("temperature"),
        col("sharpness"),
        daft.get_function("collatz", col("n"), lit(10_000)).alias("steps"),
        daft.get_function("volume", col("pressure"), col("temperature")).alias("volume"),
        daft.get_function("area", col("sharpness"), lit(0), lit(3), lit(1e-7)).alias("area"),
    )
    check(table.to_arrow())


def test_rows_of_sql_are_too():
    table = daft.sql(
        "SELECT *, collatz(n, 10000) AS steps, volume(pressure, temperature) AS volume, area(sharpness, 0, 3, 1e-7) AS area "
        "FROM samples",
        samples=batched.samples(ROWS),
    )
    check(table.to_arrow())


def test_groups():
    samples = batched.samples(ROWS)
    groups = daft.sql(
        "SELECT steps, count(*) AS rows, sum(n) AS sum FROM (SELECT n, collatz(n, 10000) AS steps FROM samples) GROUP BY steps",
        samples=samples,
    ).to_pylist()
    expected = {}
    for n in samples.to_pydict()["n"]:
        steps = or_null(collatz, n, 10_000)
        rows, total = expected.get(steps, (0, None))
        expected[steps] = (rows + 1, None if n is None else (total or 0) + n)
    assert {group["steps"]: (group["rows"], group["sum"]) for group in groups} == expected


def test_few_rows_and_none():
    def steps(n, where=lit(True)):
        table = daft.from_arrow(pa.table({"n": pa.array(n, pa.uint64())})).where(where)
        return table.select(daft.get_function("collatz", col("n"), lit(10_000))).to_pydict()["n"]

    assert steps([27]) == [111]
    assert steps([None]) == [None]
    assert steps([27, None, 97]) == [111, None, 118]
    assert steps([27, 97], col("n") > 100) == []


def test_arguments_are_cast():
    table = daft.from_pydict({"n": [27, None, 97]})
    results = daft.sql(
        "SELECT collatz(n, 1000) AS signed, collatz(27, 1000) AS one, collatz(n, NULL) AS empty, volume(n * 100000, 300) AS volume "
        "FROM numbers",
        numbers=table,
    )
    assert results.schema()["signed"].dtype == daft.DataType.uint32()
    assert results.to_pydict() == {
        "signed": [111, None, 118],
        "one": [111] * 3,
        "empty": [None] * 3,
        "volume": [volume(27e5, 300.0), None, volume(97e5, 300.0)],
    }


@pytest.mark.parametrize(
    "call, message",
    [
        ("collatz(n)", "collatz takes 2 arguments, not 1"),
        ("collatz(n / 2, 1000)", "argument 1 of collatz has to be UInt64, but is Float64"),
        ("collatz('27', 1000)", "argument 1 of collatz has to be UInt64, but is"),
    ],
)
def test_other_types_are_errors_of_the_plan(call, message):
    with pytest.raises(Exception, match=message):
        daft.sql(f"SELECT {call} FROM numbers", numbers=daft.from_pydict({"n": [27]}))


def test_numbers_that_do_not_fit_are_errors():
    query = daft.sql("SELECT collatz(-n, 1000) FROM numbers", numbers=daft.from_pydict({"n": [27]}))
    with pytest.raises(DaftCoreException, match="collatz: .*-27.*UInt64"):
        query.collect()


def test_a_row_at_fault_is_an_error_with_its_arguments():
    samples = batched.samples(ROWS)
    faulty = daft.sql("SELECT max(collatz(id, 10000)) FROM samples", samples=samples)
    with pytest.raises(DaftCoreException) as error:
        faulty.collect()
    assert "collatz(0, 10000): the sequence of 0 does not reach 1 (row 0 of its batch)" in str(error.value)
    # What is null or left out is not at fault, and the workers live on.
    sound = daft.sql("SELECT max(collatz(id, 10000)) AS most FROM samples WHERE id > 0", samples=samples)
    assert sound.to_pydict() == {"most": [max(collatz(id, 10_000) for id in range(1, ROWS))]}


@pytest.mark.skipif(os.environ.get("DAFT_RUNNER") != "ray", reason="there is one process")
def test_two_workers_run_partitions():
    @daft.func(use_process=False)
    def process(_: int) -> int:
        return os.getpid()

    table = batched.samples(ROWS).select(
        daft.get_function("collatz", col("n"), lit(10_000)), process(col("id")).alias("process")
    )
    processes = set(table.to_pydict()["process"])
    assert len(processes) == 2 and os.getpid() not in processes
