//! Who is admitted, and what they need.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::admission::purity::{PureProgram, of};
use crate::admission::receivers::{self, Receivers};
use crate::ir::testing::{functions, lowered};
use crate::item::model::Item;
use crate::passes::{self, PassOptions};

/// What the program of the item's last function needs to only compute.
fn plain(item: TokenStream) -> Option<PureProgram> {
    plain_beside(
        item,
        quote!(
            mod m {}
        ),
    )
}

/// The same with the functions of a module beside it.
fn plain_beside(item: TokenStream, helpers: TokenStream) -> Option<PureProgram> {
    let item = Item { functions: functions(item), helpers: functions(helpers).into(), ..Item::default() };
    let mut lowered = lowered(&item.functions, item.functions.len() - 1, true);
    passes::run(&mut lowered.program, &PassOptions::default());
    let outputs = receivers::outputs(&item);
    let receivers = Receivers::of_all(&lowered, &item, &outputs);
    of(&lowered, &item, &item, &outputs, &receivers)
}

fn text(item: &impl ToTokens) -> String {
    item.to_token_stream().to_string().replace(' ', "")
}

/// Its types and leaves, if it is admitted.
fn needs(item: TokenStream) -> Vec<String> {
    let plain = plain(item).expect("only computes");
    plain.types.iter().map(text).chain(plain.leaves.iter().map(|leaf| text(&leaf.value))).collect()
}

#[test]
fn numbers_need_nothing() {
    let none: [&str; 0] = [];
    assert_eq!(
        needs(quote! {
            fn f(n: u64, x: f64) -> (f64, bool) {
                assert!(n < 90, "{} is too large", n);
                if n <= 1 { return (x.sqrt(), true); }
                let (a, _) = f(n - 2, x);
                let mut table = [0.0; 3];
                for i in (0..3).rev() { table[i] = a * i as f64; }
                match n % 3 { 0 | 1 => (table[1].max(0.5), false), _ => f(n - 1, -x) }
            }
        }),
        none
    );
}

#[test]
fn what_shared_data_hold_is_asked_for() {
    assert_eq!(
        needs(quote! {
            fn f(tree: &[Node], at: usize, x: Real, #[shared] eps: f64) -> f64 {
                let node = &tree[at + 1];
                if node.leaf { return f64::MAX; }
                let mut best = LIMITS[at][2];
                for w in tree.iter() { best += w.mass * eps; }
                best + f(tree, node.next, x, eps)
            }
        }),
        [
            "Real",
            "((&(tree)[__at])).leaf",
            "((LIMITS)[__at])[__at]",
            "((&(tree)[__at])).mass",
            "eps",
            "((LIMITS)[__at])[__at]"
        ],
        "what is only handed on has a type that is asked for"
    );
}

#[test]
fn functions_of_the_item_are_looked_into() {
    let program = |helps: TokenStream| {
        plain(quote! {
            mod m {
                fn help(x: f64, w: &[f64]) -> f64 { #helps }
                pub fn f(x: f64, w: &[f64]) -> f64 { if x < 1.0 { help(x, w) } else { f(x * 0.5, w) } }
            }
        })
    };
    let admitted = program(quote!(x * w[0])).expect("pure");
    assert_eq!(admitted.leaves.iter().map(|leaf| text(&leaf.value)).collect::<Vec<_>>(), ["(w)[__at]"]);
    assert!(program(quote!(log(x))).is_none());
    assert!(program(quote!(println!("{x}"); x)).is_none());
}

#[test]
fn functions_beside_the_item_are_looked_into() {
    let program = |call: TokenStream, helpers: TokenStream| {
        let f = quote!(fn f(x: f64, w: &[f64]) -> f64 { if x < 1.0 { #call } else { f(x * 0.5, w) } });
        let plain = plain_beside(f, quote!(mod m { #helpers }))?;
        Some(plain.types.iter().map(text).chain(plain.leaves.iter().map(|leaf| text(&leaf.value))).collect())
    };
    let none = Some(Vec::<String>::new());
    let weigh = quote!(
        fn weigh(x: f64, w: &[f64]) -> f64 {
            twice(x) * w[0]
        }
        fn twice(x: f64) -> f64 {
            x * 2.0
        }
    );
    assert_eq!(program(quote!(weigh(x, w)), weigh), Some(vec!["(w)[__at]".to_string()]));
    // What is lent a value of the member's looks at that, or changes it.
    let norm = quote!(
        fn norm(v: &[f64]) -> f64 {
            let mut s = 0.0;
            for x in v {
                s += x * x;
            }
            s
        }
    );
    assert_eq!(program(quote!(norm(&[x, 2.0])), norm.clone()), none);
    let push = quote!(
        fn push(v: &mut [f64; 2], by: f64) {
            v[0] += by;
            *v = [v[1], v[0]];
        }
    );
    assert_eq!(
        program(
            quote!({
                let mut v = [x, x];
                push(&mut v, x);
                v[0]
            }),
            push
        ),
        none
    );
    let elements = vec!["(*(&(v)[__at]))".to_string(); 2];
    assert_eq!(program(quote!(norm(w)), norm), Some(elements));
    assert_eq!(
        program(
            quote!(low(x)),
            quote!(
                fn low(x: Real) -> Real {
                    if x < 0.0 {
                        return x;
                    }
                    x * 0.5
                }
            )
        ),
        Some(vec!["Real".to_string(), "Real".to_string()])
    );
    for helpers in [
        quote!(
            fn g(x: f64) -> f64 {
                println!("{x}");
                x
            }
        ),
        quote!(
            fn g(x: f64) -> f64 {
                COUNT.fetch_add(1);
                x
            }
        ),
        quote!(
            fn g(x: f64) -> f64 {
                unknown(x)
            }
        ),
        quote!(
            fn g(x: f64) -> f64 {
                f(x, &[])
            }
        ),
        quote!(
            fn g(x: f64) -> f64 {
                if x < 1.0 { x } else { g(x - 1.0) }
            }
        ),
        quote!(
            fn g(x: f64) -> f64 {
                h(x)
            }
            fn h(x: f64) -> f64 {
                if x < 1.0 { x } else { g(x - 1.0) }
            }
        ),
        quote!(
            fn g(x: f64) -> f64 {
                fn h() {}
                x
            }
        ),
        quote!(
            fn g(x: f64, y: f64) -> f64 {
                x
            }
        ),
        quote!(
            fn g<T>(x: T) -> T {
                x
            }
        ),
    ] {
        assert_eq!(program(quote!(g(x)), helpers.clone()), None, "{helpers}");
    }
}

#[test]
fn whoever_does_more_is_refused() {
    let bodies = [
        quote!(counter.fetch_add(1); f(x - 1.0)),
        quote!(let v = vec![x]; f(v[0])),
        quote!(let g = |y: f64| y + x; f(g(1.0))),
        quote!(other(x) + f(x)),
        quote!(let p = Point { x }; f(p.x)),
        quote!(let r = &mut y; *r = 1.0; f(y)),
        quote!(x.my_method() + f(x)),
        quote!(unsafe { f(x) }),
    ];
    for body in bodies {
        let item = quote!(fn f(x: f64) -> f64 { if x < 1.0 { return x; } #body });
        assert!(plain(item).is_none(), "{body}");
    }
    for (params, admitted) in [
        (quote!(x: f64, s: &mut f64), false),
        (quote!(x: f64, s: Box<[f64]>), false),
        (quote!(x: f64, #[each] mut s: &[f64]), false),
        (quote!(x: f64, #[each] s: &[f64]), true),
    ] {
        let program = plain(quote!(fn f(#params) -> f64 { if x < 1.0 { x } else { f(x * 0.5, s) } }));
        assert_eq!(program.is_some_and(|plain| plain.types.is_empty()), admitted, "{params}");
    }
}

#[test]
fn a_place_that_may_not_be_a_list_is_not_indexed() {
    let reads = |place: TokenStream| {
        plain(quote!(fn f(m: &Model, x: f64) -> f64 { if x < 1.0 { #place } else { f(m, x * 0.5) } }))
    };
    assert!(reads(quote!(m.w[0])).is_none());
    assert!(reads(quote!(m.w)).is_some());
}

#[test]
fn constants_that_the_file_does_not_show_are_asked_about() {
    let asked = |place: TokenStream| {
        let item = quote!(fn f(k: usize) -> f64 { if k < 1 { 0.5 + #place } else { f(k / 2) } });
        let plain = plain(item)?;
        Some(
            plain
                .leaves
                .iter()
                .map(|leaf| leaf.asked().map_or(0, |(_, steps)| steps.len()))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(asked(quote!(TABLE[k][k])), Some(vec![2]));
    assert_eq!(asked(quote!(tables::ROWS[k])), Some(vec![1]));
    assert_eq!(asked(quote!(SCALE)), Some(vec![0]));
    assert_eq!(asked(quote!(NODES[k].x)), None, "only rustc knows what has a field");
}

#[test]
fn tail_calls_that_come_back_need_the_machine() {
    let program = |back: TokenStream| {
        plain(quote! {
            mod m {
                fn odd(n: u32) -> bool { if n == 0 { false } else { #back } }
                pub fn even(n: u32) -> bool { if n == 0 { true } else { odd(n - 1) } }
            }
        })
    };
    assert!(program(quote!(even(n - 1))).is_none());
    assert!(program(quote!(odd(n / 2))).is_some());
}

#[test]
fn of_items_in_a_body_only_names_without_effects_are_admitted() {
    let with = |items: TokenStream| {
        let item = quote! {
            fn f(x: f64) -> f64 {
                #items
                let mut y = x;
                while y < 9.0 { y = y * 2.0 + 1.0; }
                y
            }
        };
        plain_beside(
            item,
            quote!(
                fn helper(x: f64) -> f64 {
                    x
                }
            ),
        )
        .is_some()
    };
    assert!(with(quote!(
        const LEAST: f64 = 1e-9;
        use std::f64::consts::{PI, TAU};
        use core::cmp::min;
    )));
    for refused in [
        quote!(
            use crate::PI;
        ),
        quote!(
            use std::f32 as f64;
        ),
        quote!(
            use std::f64::consts::*;
        ),
        quote!(
            const helper: f64 = 1.0;
        ),
        quote!(
            struct Least;
        ),
        quote!(
            fn g() {}
        ),
        quote!(
            static LEAST: f64 = 1e-9;
        ),
        quote!(
            macro_rules! assert {
                () => {};
            }
        ),
    ] {
        assert!(!with(refused.clone()), "{refused}");
    }
}
