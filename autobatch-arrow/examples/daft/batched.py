"""The library of this folder in Daft, and a cluster of Ray on this machine."""

import contextlib
import os
import sys
import warnings
from pathlib import Path

import daft
import pyarrow as pa

FOLDER = Path(__file__).resolve().parent
NAMES = {"darwin": "libbatched.dylib", "win32": "batched.dll"}


def load():
    """Loads the functions. Call it before the first query: workers load what was loaded when they start."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", FOLDER / "target"))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Native extensions are experimental")
        daft.load_extension(target.resolve() / "release" / NAMES.get(sys.platform, "libbatched.so"))


@contextlib.contextmanager
def two_workers():
    """A cluster of two nodes with one core each. Daft starts one worker on each node, so one node is one worker, whatever its cores."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        cluster.add_node(**node)
        ray.init(address=cluster.address, log_to_driver=False)
        daft.set_runner_ray(noop_if_initialized=True)
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


def samples(rows, partitions=8):
    """A table in partitions. Some rows have nulls."""
    ids = range(rows)
    random = [id * 7_919 % 100_003 for id in ids]

    def column(kind, value, is_null):
        return pa.array([None if is_null(id) else value(id, x) for id, x in zip(ids, random)], kind)

    table = pa.table(
        {
            "id": column(pa.int64(), lambda id, _: id, lambda _: False),
            "n": column(pa.uint64(), lambda id, x: id // 3 + x + 1, lambda id: id % 101 == 7),
            "pressure": column(pa.float64(), lambda _, x: 1e4 + 90.0 * x, lambda id: id % 89 == 3),
            "temperature": column(pa.float64(), lambda _, x: 250.0 + x % 1_013 * 0.5, lambda _: False),
            "sharpness": column(pa.float64(), lambda _, x: x % 997 * 0.3, lambda id: id % 97 == 5),
        }
    )
    size = rows // partitions
    return daft.from_arrow([table.slice(first, size) for first in range(0, rows, size)])
