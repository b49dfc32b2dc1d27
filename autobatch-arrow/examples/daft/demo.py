"""A query with batched functions, and one with a row at fault: `python demo.py` in this process, `python demo.py ray` on two workers of Ray."""

import contextlib
import sys

import daft
from daft import col, lit

import batched


def show():
    samples = batched.samples(100_000)
    steps = daft.get_function("collatz", col("n"), lit(10_000))
    samples.select(col("n"), steps.alias("steps")).where(col("n").not_null()).sort("steps", desc=True).show(5)
    daft.sql(
        "SELECT count(*) AS rows, max(volume(pressure, temperature)) AS volume, min(area(sharpness, 0, 3, 1e-7)) AS area "
        "FROM samples",
        samples=samples,
    ).show()
    try:
        daft.sql("SELECT max(collatz(id, 10000)) FROM samples", samples=samples).collect()
    except daft.exceptions.DaftCoreException as error:
        print(str(error).splitlines()[-1])


batched.load()
with batched.two_workers() if sys.argv[1:] == ["ray"] else contextlib.nullcontext():
    show()
