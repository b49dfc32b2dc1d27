//! Programs on numbers.

use crate::api::program::Program;
use crate::machine::{Core, Step, UnwindPoint};
use crate::storage::{self, Slots, Store};

use super::harness::{Sink, block, call, group, instances, program, refuse};

pub(crate) fn mandel(c_re: f32, c_im: f32, limit: i32) -> i32 {
    let (mut z_re, mut z_im) = (c_re, c_im);
    let mut i = 0;
    while i < limit {
        if z_re * z_re + z_im * z_im > 4.0 {
            break;
        }
        let re = z_re * z_re - z_im * z_im;
        let im = 2.0 * z_re * z_im;
        z_re = c_re + re;
        z_im = c_im + im;
        i += 1;
    }
    i
}

/// Blocks: 0 entry, 1 while, 2 after it; 3 is the return point.
pub(crate) static MANDEL: Program =
    program("mandel", &[block(&[1]), block(&[1, 2]), block(&[3])], &[], &[group(3)], false, 64);

#[cfg_attr(optimised, inline(always))]
fn body_mandel(core: &mut Core<'_>, store: &Store, (c, limit, out): (&[(f32, f32)], i32, &Sink<i32>)) {
    let mut v_c_re = store.column(0);
    let mut v_c_im = store.column(1);
    let mut v_z_re = store.column(2);
    let mut v_z_im = store.column(3);
    let mut v_i = store.column(4);
    let mut v_result = store.column(5);
    loop {
        match core.next() {
            Step::Load => {
                core.load(|lane, member| {
                    let (c_re, c_im) = c[member];
                    v_c_re.put(lane, c_re);
                    v_c_im.put(lane, c_im);
                });
            }
            Step::Block(0) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut c_re_ = v_c_re.read::<64>(at).open_rows();
                    let mut c_im_ = v_c_im.read::<64>(at).open_rows();
                    let mut z_re_ = v_z_re.edit::<64>(at).open_rows();
                    let mut z_im_ = v_z_im.edit::<64>(at).open_rows();
                    let mut i_ = v_i.edit::<64>(at).open_rows();
                    let (c_re_, c_im_) = (c_re_.lanes(), c_im_.lanes());
                    let (z_re_, z_im_, i_) = (z_re_.lanes(), z_im_.lanes(), i_.lanes());
                    core.open::<u32, 64>(nth).once(
                        0,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (c_re0, c_im0) = (c_re_.bits(l), c_im_.bits(l));
                            let (z_re0, z_im0, i0) = (z_re_.bits(l), z_im_.bits(l), i_.bits(l));
                            let (z_re1, z_im1, i1, next) = if here {
                                let c_re = c_re_.take(l, &c_re0);
                                let c_im = c_im_.take(l, &c_im0);
                                let (z_re, z_im) = (c_re, c_im);
                                let i = 0;
                                c_re_.keep(l, c_re);
                                c_im_.keep(l, c_im);
                                (z_re_.leave(l, z_re), z_im_.leave(l, z_im), i_.leave(l, i), 1)
                            } else {
                                (z_re0, z_im0, i0, stay)
                            };
                            z_re_.settle(l, z_re1);
                            z_im_.settle(l, z_im1);
                            i_.settle(l, i1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Block(1) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut c_re_ = v_c_re.read::<64>(at).open_rows();
                    let mut c_im_ = v_c_im.read::<64>(at).open_rows();
                    let mut z_re_ = v_z_re.edit::<64>(at).open_rows();
                    let mut z_im_ = v_z_im.edit::<64>(at).open_rows();
                    let mut i_ = v_i.edit::<64>(at).open_rows();
                    let (c_re_, c_im_) = (c_re_.lanes(), c_im_.lanes());
                    let (z_re_, z_im_, i_) = (z_re_.lanes(), z_im_.lanes(), i_.lanes());
                    core.open::<u32, 64>(nth).repeat(
                        1,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (c_re0, c_im0) = (c_re_.bits(l), c_im_.bits(l));
                            let (z_re0, z_im0, i0) = (z_re_.bits(l), z_im_.bits(l), i_.bits(l));
                            let (z_re1, z_im1, i1, next) = if here {
                                'lane: {
                                    let c_re = c_re_.take(l, &c_re0);
                                    let c_im = c_im_.take(l, &c_im0);
                                    let mut z_re = z_re_.take(l, &z_re0);
                                    let mut z_im = z_im_.take(l, &z_im0);
                                    let mut i = i_.take(l, &i0);
                                    if i < limit {
                                        if z_re * z_re + z_im * z_im > 4.0 {
                                            break 'lane (z_re0, z_im0, i_.leave(l, i), 2);
                                        }
                                        let re = z_re * z_re - z_im * z_im;
                                        let im = 2.0 * z_re * z_im;
                                        z_re = c_re + re;
                                        z_im = c_im + im;
                                        i += 1;
                                        c_re_.keep(l, c_re);
                                        c_im_.keep(l, c_im);
                                        break 'lane (
                                            z_re_.leave(l, z_re),
                                            z_im_.leave(l, z_im),
                                            i_.leave(l, i),
                                            1,
                                        );
                                    }
                                    (z_re0, z_im0, i_.leave(l, i), 2)
                                }
                            } else {
                                (z_re0, z_im0, i0, stay)
                            };
                            z_re_.settle(l, z_re1);
                            z_im_.settle(l, z_im1);
                            i_.settle(l, i1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Block(2) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut i_ = v_i.read::<64>(at).open_rows();
                    let mut result_ = v_result.edit::<64>(at).open_rows();
                    let (i_, result_) = (i_.lanes(), result_.lanes());
                    core.open::<u32, 64>(nth).once(
                        2,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (i0, result0) = (i_.bits(l), result_.bits(l));
                            let (result1, next) = if here {
                                let i = i_.take(l, &i0);
                                (result_.leave(l, i), 3)
                            } else {
                                (result0, stay)
                            };
                            result_.settle(l, result1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Store => {
                out.receive(core.stores(), |lane| v_result.remove(lane));
            }
            Step::Compact => {
                let transfer = core.transfer();
                transfer.compact(&mut v_c_re);
                transfer.compact(&mut v_c_im);
                transfer.compact(&mut v_z_re);
                transfer.compact(&mut v_z_im);
                transfer.compact(&mut v_i);
                transfer.compact(&mut v_result);
            }
            Step::Abandon => for _ in core.abandoned() {},
            Step::Done => break,
            step => core.unexpected(step),
        }
    }
}
instances!(enter_mandel, body_mandel, ['a], (&'a [(f32, f32)], i32, &'a Sink<i32>));

pub(crate) fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

/// Blocks: 0 entry, 1 after the first call, 2 after the second; 3 and 4 are the call points, 5 the
/// return point.
pub(crate) static FIB: Program = program(
    "fib",
    &[block(&[3, 5]), block(&[4]), block(&[5])],
    &[call(1), call(2)],
    &[group(5)],
    true,
    FIB_W,
);
const FIB_W: usize = 16;

#[cfg_attr(optimised, inline(always))]
fn body_fib(core: &mut Core<'_>, store: &Store, (all_n, out): (&[u64], &Sink<u64>)) {
    const W: usize = FIB_W;
    let mut v_n = store.column(0);
    let mut v_arg = store.column(1);
    let mut v_left = store.column(2);
    let mut v_right = store.column(3);
    let mut v_result = store.column(4);
    let mut s_n = store.stack(0);
    let mut s_left = store.stack(1);
    loop {
        match core.next() {
            Step::Load => {
                core.load(|lane, member| {
                    let n = all_n[member];
                    v_n.put(lane, n);
                });
            }
            Step::Block(0) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut n_ = v_n.read::<W>(at).open_rows();
                    let mut arg_ = v_arg.edit::<W>(at).open_rows();
                    let mut result_ = v_result.edit::<W>(at).open_rows();
                    let (n_, arg_, result_) = (n_.lanes(), arg_.lanes(), result_.lanes());
                    core.open::<u64, W>(nth).once(
                        0,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (n0, arg0, result0) = (n_.bits(l), arg_.bits(l), result_.bits(l));
                            let (arg1, result1, next) = if here {
                                let n = n_.take(l, &n0);
                                if n <= 1 {
                                    let result = 1;
                                    (arg0, result_.leave(l, result), 5)
                                } else {
                                    let arg = n - 2;
                                    n_.keep(l, n);
                                    (arg_.leave(l, arg), result0, 3)
                                }
                            } else {
                                (arg0, result0, stay)
                            };
                            arg_.settle(l, arg1);
                            result_.settle(l, result1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Block(1) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut n_ = v_n.read::<W>(at).open_rows();
                    let mut arg_ = v_arg.edit::<W>(at).open_rows();
                    let (n_, arg_) = (n_.lanes(), arg_.lanes());
                    core.open::<u64, W>(nth).once(
                        1,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (n0, arg0) = (n_.bits(l), arg_.bits(l));
                            let (arg1, next) = if here {
                                let n = n_.take(l, &n0);
                                let arg = n - 1;
                                (arg_.leave(l, arg), 4)
                            } else {
                                (arg0, stay)
                            };
                            arg_.settle(l, arg1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Block(2) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut left_ = v_left.read::<W>(at).open_rows();
                    let mut right_ = v_right.read::<W>(at).open_rows();
                    let mut result_ = v_result.edit::<W>(at).open_rows();
                    let (left_, right_, result_) = (left_.lanes(), right_.lanes(), result_.lanes());
                    core.open::<u64, W>(nth).once(
                        2,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (left0, right0, result0) = (left_.bits(l), right_.bits(l), result_.bits(l));
                            let (result1, next) = if here {
                                let left: u64 = left_.take(l, &left0);
                                let right: u64 = right_.take(l, &right0);
                                let result = left + right;
                                (result_.leave(l, result), 5)
                            } else {
                                (result0, stay)
                            };
                            result_.settle(l, result1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Call(0) => {
                let transfer = core.transfer();
                transfer.make_room(&mut s_n);
                transfer.push(&mut s_n, &v_n);
                transfer.pass(&mut v_n, &v_arg);
            }
            Step::Return(0) => {
                let transfer = core.transfer();
                transfer.give(&mut v_left, &v_result);
                transfer.pop(&mut s_n, &mut v_n);
            }
            Step::Call(1) => {
                let transfer = core.transfer();
                transfer.make_room(&mut s_left);
                transfer.push(&mut s_left, &v_left);
                transfer.pass(&mut v_n, &v_arg);
            }
            Step::Return(1) => {
                let transfer = core.transfer();
                transfer.give(&mut v_right, &v_result);
                transfer.pop(&mut s_left, &mut v_left);
            }
            Step::Store => {
                out.receive(core.stores(), |lane| v_result.remove(lane));
            }
            Step::Compact => {
                let transfer = core.transfer();
                transfer.compact(&mut v_n);
                transfer.compact(&mut v_arg);
                transfer.compact(&mut v_left);
                transfer.compact(&mut v_right);
                transfer.compact(&mut v_result);
            }
            Step::Abandon => {
                for gone in core.abandoned() {
                    refuse(&gone);
                    match gone.unwind_point {
                        UnwindPoint::At(0) => gone.discard(&mut v_n),
                        UnwindPoint::At(1) => {
                            gone.discard(&mut v_n);
                            gone.discard(&mut v_left);
                        }
                        UnwindPoint::At(2) => {
                            gone.discard(&mut v_left);
                            gone.discard(&mut v_right);
                        }
                        UnwindPoint::At(3) => {
                            gone.discard(&mut v_n);
                            gone.discard(&mut v_arg);
                        }
                        UnwindPoint::At(4) => {
                            gone.discard(&mut v_left);
                            gone.discard(&mut v_arg);
                        }
                        UnwindPoint::At(5) => gone.discard(&mut v_result),
                        UnwindPoint::Calling(0) => gone.discard_saved(&mut v_n, &mut s_n),
                        UnwindPoint::Calling(1) => gone.discard_saved(&mut v_left, &mut s_left),
                        _ => {}
                    }
                }
            }
            Step::Done => break,
            step => core.unexpected(step),
        }
    }
}
instances!(enter_fib, body_fib, ['a], (&'a [u64], &'a Sink<u64>));

/// `fn iota(n, acc) { if n == 0 { acc } else { iota(n - 1, acc + n) } }`: block 0, return point 1.
pub(crate) static IOTA: Program = program("iota", &[block(&[0, 1])], &[], &[group(1)], true, 16);

#[cfg_attr(optimised, inline(always))]
fn body_iota(core: &mut Core<'_>, store: &Store, (all_n, out): (&[u64], &Sink<u64>)) {
    const W: usize = 16;
    let mut v_n = store.column(0);
    let mut v_acc = store.column(1);
    let mut v_result = store.column(2);
    loop {
        match core.next() {
            Step::Load => {
                core.load(|lane, member| {
                    v_n.put(lane, all_n[member]);
                    v_acc.put(lane, 0u64);
                });
            }
            Step::Block(0) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut n_ = v_n.edit::<W>(at).open_rows();
                    let mut acc_ = v_acc.edit::<W>(at).open_rows();
                    let mut result_ = v_result.edit::<W>(at).open_rows();
                    let (n_, acc_, result_) = (n_.lanes(), acc_.lanes(), result_.lanes());
                    core.open::<u64, W>(nth).repeat(
                        0,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (n0, acc0, result0) = (n_.bits(l), acc_.bits(l), result_.bits(l));
                            let (n1, acc1, result1, next) = if here {
                                let n = n_.take(l, &n0);
                                let acc: u64 = acc_.take(l, &acc0);
                                if n == 0 {
                                    (n0, acc0, result_.leave(l, acc), 1)
                                } else {
                                    let (n, acc) = (n - 1, acc.wrapping_add(n));
                                    (n_.leave(l, n), acc_.leave(l, acc), result0, 0)
                                }
                            } else {
                                (n0, acc0, result0, stay)
                            };
                            n_.settle(l, n1);
                            acc_.settle(l, acc1);
                            result_.settle(l, result1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Store => {
                out.receive(core.stores(), |lane| v_result.remove(lane));
            }
            Step::Compact => {
                let transfer = core.transfer();
                transfer.compact(&mut v_n);
                transfer.compact(&mut v_acc);
                transfer.compact(&mut v_result);
            }
            Step::Abandon => for _ in core.abandoned() {},
            Step::Done => break,
            step => core.unexpected(step),
        }
    }
}
instances!(enter_iota, body_iota, ['a], (&'a [u64], &'a Sink<u64>));

/// `fn sum(n) { if n == 0 { 0 } else { n + sum(n - 1) } }`: blocks 0 entry, 1 after the call; call point
/// 2, return point 3.
pub(crate) static SUM: Program =
    program("sum", &[block(&[2, 3]), block(&[3])], &[call(1)], &[group(3)], true, 16);

#[cfg_attr(optimised, inline(always))]
fn body_sum(core: &mut Core<'_>, store: &Store, (all_n, out): (&[u64], &Sink<u64>)) {
    const W: usize = 16;
    let mut v_n = store.column(0);
    let mut v_arg = store.column(1);
    let mut v_rest = store.column(2);
    let mut v_result = store.column(3);
    let mut s_n = store.stack(0);
    loop {
        match core.next() {
            Step::Load => {
                core.load(|lane, member| {
                    v_n.put(lane, all_n[member]);
                });
            }
            Step::Block(0) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut n_ = v_n.read::<W>(at).open_rows();
                    let mut arg_ = v_arg.edit::<W>(at).open_rows();
                    let mut result_ = v_result.edit::<W>(at).open_rows();
                    let (n_, arg_, result_) = (n_.lanes(), arg_.lanes(), result_.lanes());
                    core.open::<u64, W>(nth).once(
                        0,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (n0, arg0, result0) = (n_.bits(l), arg_.bits(l), result_.bits(l));
                            let (arg1, result1, next) = if here {
                                let n = n_.take(l, &n0);
                                if n == 0 {
                                    (arg0, result_.leave(l, 0), 3)
                                } else {
                                    let arg = n - 1;
                                    n_.keep(l, n);
                                    (arg_.leave(l, arg), result0, 2)
                                }
                            } else {
                                (arg0, result0, stay)
                            };
                            arg_.settle(l, arg1);
                            result_.settle(l, result1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Block(1) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut n_ = v_n.read::<W>(at).open_rows();
                    let mut rest_ = v_rest.read::<W>(at).open_rows();
                    let mut result_ = v_result.edit::<W>(at).open_rows();
                    let (n_, rest_, result_) = (n_.lanes(), rest_.lanes(), result_.lanes());
                    core.open::<u64, W>(nth).once(
                        1,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (n0, rest0, result0) = (n_.bits(l), rest_.bits(l), result_.bits(l));
                            let (result1, next) = if here {
                                let n: u64 = n_.take(l, &n0);
                                let rest: u64 = rest_.take(l, &rest0);
                                (result_.leave(l, n + rest), 3)
                            } else {
                                (result0, stay)
                            };
                            result_.settle(l, result1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Call(0) => {
                let transfer = core.transfer();
                transfer.make_room(&mut s_n);
                transfer.push(&mut s_n, &v_n);
                transfer.pass(&mut v_n, &v_arg);
            }
            Step::Return(0) => {
                let transfer = core.transfer();
                transfer.give(&mut v_rest, &v_result);
                transfer.pop(&mut s_n, &mut v_n);
            }
            Step::Store => {
                out.receive(core.stores(), |lane| v_result.remove(lane));
            }
            Step::Compact => {
                let transfer = core.transfer();
                transfer.compact(&mut v_n);
                transfer.compact(&mut v_arg);
                transfer.compact(&mut v_rest);
                transfer.compact(&mut v_result);
            }
            Step::Abandon => {
                for gone in core.abandoned() {
                    refuse(&gone);
                    match gone.unwind_point {
                        UnwindPoint::At(0) => gone.discard(&mut v_n),
                        UnwindPoint::At(1) => {
                            gone.discard(&mut v_n);
                            gone.discard(&mut v_rest);
                        }
                        UnwindPoint::At(2) => {
                            gone.discard(&mut v_n);
                            gone.discard(&mut v_arg);
                        }
                        UnwindPoint::At(3) => gone.discard(&mut v_result),
                        UnwindPoint::Calling(0) => gone.discard_saved(&mut v_n, &mut s_n),
                        _ => {}
                    }
                }
            }
            Step::Done => break,
            step => core.unexpected(step),
        }
    }
}
instances!(enter_sum, body_sum, ['a], (&'a [u64], &'a Sink<u64>));
