//! Calls whose arguments LLVM knows to be apart from each other, as it knows it of a function's `&mut` parameters only.

use std::hint::black_box;

/// Calls a function: its arguments are known to be apart from each other.
macro_rules! noalias {
    ($($name:ident $outlined:ident: $($arg:ident $ty:ident),*;)*) => {$(
        /// Calls `f`: inside, the arguments are known to be apart from each other.
        #[cfg_attr(optimised, inline(always))]
        #[allow(clippy::too_many_arguments)]
        pub fn $name<R, $($ty),*>($($arg: $ty,)* mut f: impl FnMut($($ty),*) -> R) -> R {
            let f: &mut dyn FnMut($($ty),*) -> R = &mut f;
            f($($arg),*)
        }

        /// The same, never inlined: a loop that has all registers to itself.
        #[cfg_attr(optimised, inline(always))]
        #[allow(clippy::too_many_arguments)]
        pub fn $outlined<R, $($ty),*>($($arg: $ty,)* mut f: impl FnMut($($ty),*) -> R) -> R {
            let f: &mut dyn FnMut($($ty),*) -> R = &mut f;
            black_box(f)($($arg),*)
        }
    )*};
}

noalias! {
    noalias0 outlined0: ;
    noalias1 outlined1: a A;
    noalias2 outlined2: a A, b B;
    noalias3 outlined3: a A, b B, c C;
    noalias4 outlined4: a A, b B, c C, d D;
    noalias5 outlined5: a A, b B, c C, d D, e E;
    noalias6 outlined6: a A, b B, c C, d D, e E, g G;
    noalias7 outlined7: a A, b B, c C, d D, e E, g G, h H;
    noalias8 outlined8: a A, b B, c C, d D, e E, g G, h H, i I;
    noalias9 outlined9: a A, b B, c C, d D, e E, g G, h H, i I, j J;
    noalias10 outlined10: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K;
    noalias11 outlined11: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L;
    noalias12 outlined12: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M;
    noalias13 outlined13: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N;
    noalias14 outlined14: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O;
    noalias15 outlined15: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P;
    noalias16 outlined16: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q;
    noalias17 outlined17: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S;
    noalias18 outlined18: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T;
    noalias19 outlined19: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U;
    noalias20 outlined20: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V;
    noalias21 outlined21: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W;
    noalias22 outlined22: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X;
    noalias23 outlined23: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y;
    noalias24 outlined24: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z;
    noalias25 outlined25: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z, aa AA;
    noalias26 outlined26: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z, aa AA, bb BB;
    noalias27 outlined27: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z, aa AA, bb BB, cc CC;
    noalias28 outlined28: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z, aa AA, bb BB, cc CC, dd DD;
}
