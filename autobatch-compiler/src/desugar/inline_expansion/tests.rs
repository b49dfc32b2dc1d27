//! What calls of helpers become.

use proc_macro2::TokenStream;
use quote::quote;

use super::*;
use crate::ir::testing::functions;
use crate::resolve::method_calls;
use crate::syntax::mentions::text;

/// The body of `f` with its helpers' code in it.
fn expanded(f: TokenStream, helpers: TokenStream) -> String {
    expanded_in(f, helpers, true)
}

/// The same; `in_for` says whether all of `f` stands in a `for`.
fn expanded_in(f: TokenStream, helpers: TokenStream, in_for: bool) -> String {
    let helpers = functions(quote!(mod m { #helpers })).into();
    let mut item = Item { functions: functions(f), helpers, ..Item::default() };
    let resolution = method_calls::resolve(&mut item, |f| f == 0);
    expand(&mut item, &resolution, |f| f == 0, false, in_for);
    text(&item.functions[0].body)
}

#[test]
fn calls_outside_of_loops_stay() {
    let square = quote!(
        mod m {
            fn square(x: f64) -> f64 {
                x * x
            }
        }
    );
    let body = quote!({
        let mut s = square(x);
        for _ in 0..9 {
            s = x + square(s);
        }
        s
    });
    let mut item = Item {
        functions: functions(quote!(fn f(x: f64) -> f64 #body)),
        helpers: functions(square).into(),
        ..Item::default()
    };
    rewrite(&mut item, &Resolution::default(), |f| f == 0, false);
    let body = text(&item.functions[0].body);
    assert!(body.contains("s = square (x)") && !body.contains("square (s)"), "{body}");
}

fn is(f: TokenStream, helpers: TokenStream, body: TokenStream) {
    assert_eq!(expanded(f, helpers), text(&body));
}

#[test]
fn helpers_stand_where_they_are_called() {
    is(
        quote!(
            fn f(x: f64, y: f64) -> f64 {
                let t = 2.0 * square(x + y);
                outer(y, t)
            }
        ),
        quote!(
            fn square(x: f64) -> f64 {
                x * x
            }
            fn outer(t: f64, x: f64) -> f64 {
                let y = square(t);
                if x < 0.0 {
                    return y;
                }
                let t = x;
                t * y
            }
        ),
        quote!({
            let x_2: f64 = x + y;
            let __returned_1: f64 = x_2 * x_2;
            let t = 2.0 * (__returned_1);
            let __returned_2: f64 = y * y;
            let y_2 = (__returned_2);
            let __returned_3: f64 = if t < 0.0 {
                y_2
            } else {
                let t_2 = t;
                t_2 * y_2
            };
            (__returned_3)
        }),
    );
}

#[test]
fn helpers_may_look_at_variants() {
    is(
        quote!(
            fn f(x: f64) -> f64 {
                let mut s = x;
                for _ in 0..9 {
                    s = half(some(s));
                }
                s
            }
        ),
        quote!(
            fn some(x: f64) -> Option<f64> {
                if x < 0.0 { None } else { Some(x) }
            }
            fn half(v: Option<f64>) -> f64 {
                let Some(s) = v else {
                    return 0.5;
                };
                s * 0.5
            }
        ),
        quote!({
            let mut s = x;
            for _ in 0..9 {
                let x_2: f64 = s;
                let __returned_1: Option<f64> = if x_2 < 0.0 { None } else { Some(x_2) };
                let v: Option<f64> = __returned_1;
                let __returned_2: f64 = if let Some(s_2) = (v) { s_2 * 0.5 } else { 0.5 };
                s = (__returned_2);
            }
            s
        }),
    );
}

#[test]
fn exchanges_of_numbers_are_assignments() {
    let exchanged = |a: TokenStream| {
        expanded(quote!(fn f(mut a: #a, mut b: #a) -> f64 { std::mem::swap(&mut a, &mut b); 1.0 }), quote!())
    };
    let body = exchanged(quote!(f64));
    assert_eq!(
        body,
        text(&quote!({
            {
                let __element: f64 = a;
                a = b;
                b = __element;
            };
            1.0
        }))
    );
    assert!(exchanged(quote!(Vec<f64>)).contains("swap"), "what owns memory");
    assert!(exchanged(quote!(&mut f64)).contains("swap"), "references");
}

#[test]
fn what_is_lent_is_the_variable_itself() {
    is(
        quote!(
            fn f(mut v: [f64; 2], p: &P) -> f64 {
                push(&mut v, scaled(p, v[0]));
                v[1]
            }
        ),
        quote!(
            fn push(to: &mut [f64; 2], by: f64) {
                to[0] += by;
                *to = [to[1], to[0]];
            }
            fn scaled(q: &P, x: f64) -> f64 {
                q.scale * x
            }
        ),
        quote!({
            let x: f64 = v[0];
            let __returned_1: f64 = p.scale * x;
            let by: f64 = __returned_1;
            v[0] += by;
            v = [v[1], v[0]];
            v[1]
        }),
    );
}

#[test]
fn operands_before_a_copy_are_evaluated_before_it() {
    let square = quote!(
        fn square(x: f64) -> f64 {
            x * x
        }
    );
    is(
        quote!(
            fn f(x: f64, y: f64) -> f64 {
                x / y + square(x)
            }
        ),
        square.clone(),
        quote!({
            let __operand_1 = x / y;
            let __returned_1: f64 = x * x;
            __operand_1 + (__returned_1)
        }),
    );
    for body in [quote!(v[0] + square(x)), quote!(x > 0.0 && square(x) > 1.0), quote!(g(x) + square(x))] {
        let kept = expanded(quote!(fn f(v: &[f64], x: f64) -> bool { #body }), square.clone());
        assert!(kept.contains("({ let __returned_1 : f64 = x * x ; __returned_1 })"), "{kept}");
    }
}

#[test]
fn calls_stay_where_copies_could_mean_something_else() {
    let f = quote!(
        fn f(x: f64, y: f64) -> f64 {
            let K = y;
            h(x)
        }
    );
    for helpers in [
        quote!(
            fn h(x: f64) -> f64 {
                x * y
            }
        ),
        quote!(
            fn h(x: f64) -> f64 {
                unknown(x)
            }
        ),
        quote!(
            fn h(x: f64) -> f64 {
                debug!(x);
                x
            }
        ),
        quote!(
            fn h(x: f64) -> f64 {
                for i in 0..9 {
                    g(i);
                }
                x
            }
        ),
        quote!(
            fn h(x: f64) -> f64 {
                'a: while x > 1.0 {
                    break 'a;
                }
                x
            }
        ),
        quote!(
            fn h(x: f64) -> f64 {
                if x > 1.0 { h(x - 1.0) } else { x }
            }
        ),
        quote!(
            fn h(x: f64) -> f64 {
                (|y: f64| y)(x)
            }
        ),
        quote!(
            fn h(x: f64) -> f64 {
                const A: f64 = 1.0;
                x * A
            }
        ),
        quote!(
            fn h(x: Real) -> Real {
                x
            }
        ),
        quote!(
            fn h<T: Real>(x: T) -> T {
                x.halved()
            }
        ),
        quote!(
            fn h<T: Real>(x: T) -> T {
                T::ZERO
            }
        ),
        quote!(
            fn h<T: Real, U>(x: T) -> T {
                x
            }
        ),
        quote!(
            fn h(x: f64, y: f64) -> f64 {
                x
            }
        ),
        quote!(
            fn h(x: &f64) -> f64 {
                *x
            }
        ),
        quote!(
            fn h(x: f64) -> f64 {
                let mut s = 0.0;
                for y in [if x > 1.0 { return 2.0 } else { x }, 1.0] {
                    s += y;
                }
                s
            }
        ),
    ] {
        assert_eq!(expanded(f.clone(), helpers.clone()), text(&functions(f.clone())[0].body), "{helpers}");
    }
    let hidden = quote!(
        fn f(x: f64) -> f64 {
            fn h(x: f64) -> f64 {
                -x
            }
            h(x)
        }
    );
    let kept = expanded(
        hidden.clone(),
        quote!(
            fn h(x: f64) -> f64 {
                x
            }
        ),
    );
    assert_eq!(kept, text(&functions(hidden)[0].body));
}

#[test]
fn arrays_that_are_made_for_a_call_are_variables() {
    let product = quote!(
        fn product(a: &[f64; 2], b: &[f64; 2]) -> [f64; 2] {
            [a[0] * b[0], a[1] * b[1]]
        }
    );
    let body = expanded(
        quote!(
            fn f(x: f64) -> f64 {
                let t = product(&product(&[x, 1.0], &[x, 2.0]), &[x, x]);
                t[0]
            }
        ),
        product,
    );
    assert!(!body.contains("product"), "{body}");
    assert_eq!(body.matches(": [f64 ; 2] = [x ,").count(), 3, "{body}");
}

#[test]
fn helpers_with_loops_are_expanded_in_any_loop() {
    let helpers = quote!(
        fn rate(y: &[f64; 2], a: f64) -> [f64; 2] {
            [y[0] * a, y[1] - a]
        }
        fn step(y: &[f64; 2], a: f64) -> ([f64; 2], f64) {
            let mut k = [[0.0; 2]; 3];
            k[0] = rate(y, a);
            let mut new = *y;
            for stage in 0..2 {
                for j in 0..=stage {
                    new[0] += k[j][1];
                }
                k[stage + 1] = rate(&new, a);
            }
            (new, k[2][0])
        }
    );
    let f = quote!(
        fn f(x: f64, a: f64) -> f64 {
            let mut y = [x, 0.0];
            let mut t = 0.0;
            while t < 1.0 {
                let (new, error) = step(&y, a);
                y = new;
                t += error;
            }
            y[0]
        }
    );
    let body = expanded_in(f, helpers, false);
    assert!(!body.contains("step") && !body.contains("rate"), "{body}");
}

#[test]
fn helpers_with_loops_of_data_are_expanded_anywhere() {
    let f = quote!(
        fn f(x: f64) -> f64 {
            let y = root(x);
            y
        }
    );
    let root = quote!(
        fn root(a: f64) -> f64 {
            let mut x = a;
            loop {
                if x * x < a + 0.1 {
                    return x;
                }
                x = 0.5 * (x + a / x);
            }
        }
    );
    let body = quote!({
        let mut x_2 = x;
        let mut __left_with_1: f64 = (0u8 as f64);
        loop {
            if x_2 * x_2 < x + 0.1 {
                __left_with_1 = x_2;
                break;
            }
            x_2 = 0.5 * (x_2 + x / x_2);
        }
        let __returned_1: f64 = __left_with_1;
        let y = (__returned_1);
        y
    });
    assert_eq!(expanded_in(f.clone(), root, false), text(&body));
    // There is no vector code for these, and arrays would be moved in each round.
    for step in [quote!(x = x.exp() - a;), quote!(x = [a; 9][1];)] {
        let root = quote!(
            fn root(a: f64) -> f64 {
                let mut x = a;
                while x > 1.0 {
                    #step
                }
                x
            }
        );
        assert!(expanded_in(f.clone(), root, false).contains("= root (x)"), "{step}");
    }
}

#[test]
fn what_is_lent_for_changes_is_only_looked_at() {
    let f = quote!(
        fn f(y: &mut [f64; 2], z: &mut f64) -> f64 {
            for _ in 0..9 {
                y[0] += sum(y, 2.0);
                y[1] += twice(z);
            }
            y[0]
        }
    );
    let helpers = quote!(
        fn sum(y: &[f64; 2], a: f64) -> f64 {
            let copy = *y;
            y[0] * a + copy[1]
        }
        fn twice(z: &f64) -> f64 {
            z * 2.0
        }
    );
    let body = expanded(f, helpers);
    // `&mut f64` has no operators.
    assert!(!body.contains("sum (") && body.contains("twice (z)"), "{body}");
    assert!(body.contains("= (* y)") && body.contains("y [0] * 2.0f64"), "{body}");
}

/// The body of `f` with the code of what stands beside it, types with their methods among it.
fn expanded_beside(f: TokenStream, beside: TokenStream) -> String {
    let file: syn::File = syn::parse2(beside).unwrap();
    let mut declared = crate::index::declarations::Declared::of_file(&file);
    declared.beside.add(&file.items);
    declared.definitions.add(&file.items);
    let (mut helpers, mut methods) = (vec![], vec![]);
    for item in &file.items {
        match item {
            syn::Item::Fn(f) => helpers.extend(functions(quote!(mod m { #f }))),
            syn::Item::Impl(block) => methods.extend(crate::item::helpers::methods_in(block)),
            _ => {}
        }
    }
    let mut item = Item {
        functions: functions(f),
        helpers: helpers.into(),
        methods: methods.into(),
        declared: declared.into(),
        ..Item::default()
    };
    let resolution = method_calls::resolve(&mut item, |f| f == 0);
    let mut checks = rewrite(&mut item, &resolution, |f| f == 0, false);
    crate::desugar::scalar_replacement::rewrite(&mut item, &resolution, |f| f == 0, &mut checks);
    text(&item.functions[0].body)
}

#[test]
fn methods_and_operators_of_structures_are_helpers() {
    let body = expanded_beside(
        quote!(
            fn f(spheres: &[Sphere], from: V3, way: V3) -> u32 {
                let mut met = 0;
                for i in 0..9 {
                    met += hidden(spheres, from, way - from) as u32;
                }
                met
            }
        ),
        quote!(
            #[derive(Clone, Copy)]
            struct V3 {
                x: f32,
                y: f32,
            }
            impl V3 {
                fn new(x: f32, y: f32) -> V3 {
                    V3 { x, y }
                }
                fn dot(self, o: V3) -> f32 {
                    self.x * o.x + self.y * o.y
                }
            }
            impl Sub for V3 {
                type Output = V3;
                fn sub(self, o: Self) -> Self::Output {
                    Self::new(self.x - o.x, self.y - o.y)
                }
            }
            #[derive(Clone, Copy)]
            struct Sphere {
                centre: V3,
                radius: f32,
            }
            fn meets(sphere: &Sphere, from: V3, way: V3) -> bool {
                let to = sphere.centre - from;
                if to.dot(way) < 0.0 {
                    return false;
                }
                to.dot(to) < sphere.radius
            }
            fn hidden(spheres: &[Sphere], from: V3, to: V3) -> bool {
                for sphere in spheres {
                    if meets(sphere, from, to - from) {
                        return true;
                    }
                }
                false
            }
        ),
    );
    assert!(!body.contains("hidden") && !body.contains("V3") && !body.contains("meets"), "{body}");
    assert!(body.contains("let way_x : f32 = way . x ;"), "{body}");
    assert!(body.contains("let __self_x : f32 = sphere . centre . x ;"), "{body}");
    assert!(body.contains("{ __left_1 = true ; break ; }"), "{body}");
    assert!(body.contains("if __left_1 { true } else { false }"), "{body}");
}

#[test]
fn arrays_are_counted_through() {
    let f = |body: TokenStream| quote!(fn f(a: [f64; 3], mut b: [f64; 3], t: f64) -> f64 #body);
    let helpers = || quote!();
    is(
        f(quote!({
            for (k, (b, a)) in b.iter_mut().zip(&a).enumerate() {
                *b += a * k as f64;
            }
            t
        })),
        helpers(),
        quote!({
            for __at_1 in 0..3 {
                let k: usize = __at_1;
                let a_2: f64 = a[__at_1];
                b[__at_1] += a_2 * k as f64;
            }
            t
        }),
    );
    is(
        f(quote!({
            let s: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            s
        })),
        helpers(),
        quote!({
            let mut __state_1_1: f64 = -0.0;
            for __at_1 in 0..3 {
                let x: f64 = a[__at_1];
                let y: f64 = b[__at_1];
                __state_1_1 += x * y;
            }
            let s: f64 = (__state_1_1);
            s
        }),
    );
}

#[test]
fn closures_make_elements() {
    let f = quote!(
        fn f(a: [f64; 2], t: f64) -> f64 {
            let p: [f64; 2] = std::array::from_fn(|i| a[1 - i] + t);
            let q = p.map(|x| x * t);
            q[0] + p[1]
        }
    );
    let body = expanded(f, quote!());
    assert!(body.contains("= [(a [1 - 0usize] + t) , (a [1 - 1usize] + t)] ;"), "{body}");
    assert!(body.contains("let x : f64 = p [0usize] ; x * t } , { let x_2 : f64 = p [1usize] ;"), "{body}");
}

#[test]
fn arrays_of_which_something_else_is_meant_stay() {
    let bodies = [
        // A reference goes somewhere.
        quote!({
            for x in a.iter() {
                keep(x);
            }
            t
        }),
        // Two lengths.
        quote!({
            let s: f64 = a.iter().zip(&c).map(|(x, y)| x * y).sum();
            s
        }),
        // The array changes while a copy is gone through.
        quote!({
            for x in b {
                b[0] += x;
            }
            t
        }),
        // The closure's index changes, or there are too many.
        quote!({
            let p: [f64; 9] = std::array::from_fn(|i| a[i % 3]);
            p[0]
        }),
        // The larger reference.
        quote!({
            for x in k.iter() {
                let y = *x.max(&5);
            }
            t
        }),
        // References are compared.
        quote!({
            for (x, y) in a.iter().zip(&b) {
                if x > y {
                    break;
                }
            }
            t
        }),
    ];
    for body in bodies {
        let f = quote!(fn f(a: [f64; 3], mut b: [f64; 3], c: [f64; 2], k: [i64; 2], t: f64) -> f64 #body);
        let own = text(&functions(f.clone())[0].body);
        let expanded = expanded(f, quote!()).replace(":: from_fn :: < _ , 9 , _ >", ":: from_fn");
        assert_eq!(expanded, own);
    }
}
