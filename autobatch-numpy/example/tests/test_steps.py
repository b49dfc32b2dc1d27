"""The functions of the package behave as NumPy's own do."""

import math
import threading

import numpy as np
import pytest

import steps


def collatz(n, limit=10**6):
    count = 0
    while n != 1 and count < limit:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def newton(x, dtype):
    x = y = dtype(x)
    for _ in range(40):
        y = y - (y * y - x) / y * dtype(0.5)
    return y


def test_they_are_ufuncs():
    assert isinstance(steps.collatz, np.ufunc)
    assert (steps.collatz.nin, steps.collatz.nout, steps.collatz.__name__) == (2, 1, "collatz")
    assert steps.collatz.types == ["LI->I"]
    assert steps.root.types == ["f->f", "d->d"]
    assert "Collatz" in steps.collatz.__doc__
    assert steps.cross.signature == "(3),(3)->(3)"


def test_scalars_are_scalars():
    result = steps.collatz(np.uint64(27), np.uint32(1000))
    assert result == 111 and isinstance(result, np.uint32)
    assert steps.collatz(np.uint64(27), 1000) == 111  # an int is what the other operands are
    assert isinstance(steps.root(2.0), np.float64)


@pytest.mark.parametrize("count", [0, 1, 2, 31, 1000, 100_000])
def test_values_are_those_of_the_scalar_function(count):
    n = np.arange(1, count + 1, dtype=np.uint64)
    result = steps.collatz(n, np.uint32(10**6))
    assert result.dtype == np.uint32 and result.shape == (count,)
    for i in range(0, count, max(1, count // 300)):
        assert result[i] == collatz(i + 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_type_has_its_loop_and_the_same_bits(dtype):
    x = np.arange(1, 5000).astype(dtype) / dtype(7)
    result = steps.root(x)
    assert result.dtype == dtype
    expected = np.array([newton(v, dtype) for v in x[:300]], dtype=dtype)
    assert result[:300].tobytes() == expected.tobytes()


def test_broadcasting():
    n = np.arange(1, 21, dtype=np.uint64).reshape(4, 5, 1)
    limit = np.array([3, 50, 1000], dtype=np.uint32)
    result = steps.collatz(n, limit)
    assert result.shape == (4, 5, 3)
    for i in np.ndindex(4, 5, 3):
        assert result[i] == collatz(int(n[i[0], i[1], 0]), int(limit[i[2]]))
    one = steps.collatz(np.broadcast_to(np.uint64(27), (1000,)), np.uint32(1000))
    assert one.shape == (1000,) and (one == 111).all()
    with pytest.raises(ValueError):
        steps.collatz(n.ravel(), limit)


def test_any_strides_and_orders():
    x = np.arange(1.0, 4001.0).reshape(50, 80)
    whole = steps.root(x)
    for index in [np.s_[::-1], np.s_[:, ::-1], np.s_[::3, 5::7], np.s_[3, ::-2]]:
        assert steps.root(x[index]).tobytes() == whole[index].tobytes()
    assert steps.root(np.asfortranarray(x)).tobytes() == whole.tobytes()
    assert steps.root(x.T).T.tobytes() == whole.tobytes()
    record = np.zeros(100, dtype=np.dtype([("a", np.uint8), ("x", np.float64)]))  # not aligned
    record["x"] = x.ravel()[:100]
    assert steps.root(record["x"]).tobytes() == whole.ravel()[:100].tobytes()
    swapped = x.astype(">f8")
    assert steps.root(swapped).tobytes() == whole.tobytes()


def test_casts_are_safe_ones():
    assert steps.root(np.arange(1, 10, dtype=np.int32)).dtype == np.float64
    assert steps.root(np.arange(1, 10, dtype=np.int16)).dtype == np.float32
    assert steps.share(np.arange(10, dtype=np.int8), np.int16(2)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    with pytest.raises(TypeError):
        steps.collatz(np.arange(1, 10, dtype=np.float64), 10)
    with pytest.raises(TypeError):
        steps.collatz(np.arange(1, 10), 10)  # int64 is no uint64
    with pytest.raises(TypeError):
        steps.collatz(27, 10)  # ints alone are int64
    with pytest.raises(TypeError):
        steps.collatz("27", 10)
    assert steps.root(4, dtype=np.float32).dtype == np.float32


def test_out_and_in_place():
    x = np.arange(1.0, 1001.0)
    expected = steps.root(x)
    out = np.zeros((1000, 2))
    result = steps.root(x, out=out[:, 1])
    assert result.base is out and out[:, 1].tobytes() == expected.tobytes() and not out[:, 0].any()
    steps.root(x, out=x)
    assert x.tobytes() == expected.tobytes()
    y = np.arange(1.0, 1001.0)
    steps.root(y[:-1], out=y[1:])
    assert y[1:].tobytes() == expected[:-1].tobytes()
    with pytest.raises(TypeError):
        steps.root(x, out=np.zeros(1000, dtype=np.int32))


def test_where_runs_nothing_else():
    whole = np.arange(1000)
    parts = whole % 7 - 3
    out = np.full(1000, 99)
    result = steps.share(whole, parts, out=out, where=parts != 0)
    quotient = np.trunc(whole[parts != 0] / parts[parts != 0]).astype(int)
    assert (result[parts != 0] == quotient).all() and (result[parts == 0] == 99).all()


def test_faults_are_exceptions_or_nan():
    with pytest.raises(RuntimeError, match="share: attempt to divide by zero"):
        steps.share(np.arange(100_000), np.arange(100_000) % 1000)
    with pytest.raises(RuntimeError, match="checked_root: -1 is negative"):
        steps.checked_root(-1.0)
    x = np.array([4.0, -1.0, 9.0, math.nan])
    result = steps.root_or_nan(x)
    assert result[[0, 2]].tolist() == [2.0, 3.0] and np.isnan(result[[1, 3]]).all()
    assert np.isnan(steps.root_or_nan(-4.0))


def test_vectors_of_a_fixed_size():
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 500, 3))
    for left, right in [(a, b), (a[:, ::-1], b), (a.T.copy().T, b[::-1]), (a, b[7])]:
        assert steps.cross(left, right).tobytes() == np.cross(left, right).tobytes()
    assert steps.cross(a[0], b[0]).shape == (3,)
    assert steps.cross(a[:, None], b[None, :20]).shape == (500, 20, 3)
    assert np.allclose(steps.norm(a), np.linalg.norm(a, axis=1), rtol=1e-15)
    out = np.zeros((3, 500)).T
    steps.cross(a, b, out=out)
    assert (out == np.cross(a, b)).all()
    assert (steps.norm(a.T, axis=0) == steps.norm(a)).all()
    with pytest.raises(ValueError):
        steps.norm(rng.normal(size=(5, 4)))


def test_booleans_of_any_byte():
    a = np.array([True, False, True, False])
    odd = np.array([7, 7, 0, 0], dtype=np.uint8).view(bool)
    assert steps.both(a, odd).tolist() == [True, False, False, False]


def test_methods_of_ufuncs():
    table = steps.share.outer(np.arange(10), np.arange(1, 4))
    assert table.shape == (10, 3) and table[9].tolist() == [9, 4, 3]
    x = np.arange(1.0, 6.0)
    steps.root.at(x, [0, 2, 2])
    assert x[2] == newton(newton(3.0, np.float64), np.float64)


def test_the_lock_is_free_while_it_runs():
    done, turns = threading.Event(), 0
    n = np.full(400_000, 837799, dtype=np.uint64)

    def run():
        steps.collatz(n, np.uint32(1000))
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 100
