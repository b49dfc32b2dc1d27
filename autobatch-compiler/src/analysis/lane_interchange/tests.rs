//! Which blocks are lane-interchanged, and their shape.

use proc_macro2::TokenStream;
use quote::quote;

use crate::analysis::lane_interchange::{Node, Plan, Scope, heavy_branches_apart, overwritten, steps};
use crate::ir::VarSet;
use crate::ir::testing::{functions, lowered};

/// The lane-interchanged blocks of a function: `n` pieces for each lane, `u` uniform values, `f` filled arrays, `o` those
/// that are overwritten, `b` branches, loops in brackets.
fn shapes(item: TokenStream) -> Vec<String> {
    let program = lowered(&functions(item), 0, true).program;
    assert!(program.notes.is_empty());
    let blocks = program.blocks.iter().filter(|b| b.interchanged);
    blocks
        .map(|b| {
            let scope = Scope::new(&program, b.func);
            let plan = Plan::of(&scope, &b.ops).expect("it was admitted");
            shape(&plan.nodes, &overwritten(&scope, &plan.nodes))
        })
        .collect()
}

/// The shape of a function's loop when heavy branches are apart.
fn apart(code: TokenStream) -> String {
    let program = lowered(&functions(code), 0, true).program;
    let block = program.blocks.iter().find(|b| b.interchanged).expect("there is a loop");
    let scope = Scope::new(&program, block.func);
    let plan = Plan::of(&scope, &block.ops).expect("it was admitted");
    shape(&heavy_branches_apart(plan.nodes, &|_| false), &VarSet::new())
}

fn shape(nodes: &[Node], overwritten: &VarSet) -> String {
    nodes
        .iter()
        .map(|node| match node {
            Node::Branch(_) => "b".into(),
            Node::Uniform(_) => "u".into(),
            Node::Lanes(stmts) => stmts.len().to_string(),
            Node::Fill(array, _) if overwritten.contains(array) => "o".into(),
            Node::Fill(..) => "f".into(),
            Node::Copy(..) => "c".into(),
            Node::Swap(..) => "s".into(),
            Node::Loop(head, body) => match steps(&head.expr) {
                Some(_) => format!("<{}>", shape(body, overwritten)),
                None => format!("[{}]", shape(body, overwritten)),
            },
        })
        .collect()
}

#[test]
fn nested_loops_over_an_array() {
    let found = shapes(quote! {
        fn f(x: f32) -> f32 {
            let mut val = [0.0f32; 65];
            let half = 0.5;
            let y = x.sqrt();
            for j in 0..=64 { val[j] = y; val[j] += x; }
            for j in (1..=64).rev() {
                let last = j - 1;
                for k in 0..last { val[k] = val[k] * half + val[k + 1]; }
                val[j] = x;
            }
            val[0]
        }
    });
    assert_eq!(found, ["ou1[2][u[1]1]1"]);
}

#[test]
fn what_is_not_known_to_be_pure_stays_outside() {
    let found = shapes(quote! {
        fn f(x: f64, weights: &[f64]) -> f64 {
            let mut acc = user_code(x);
            let n = weights.len();
            for w in 0..n { acc += weights[w] * x; acc *= 0.5; }
            println!("{acc}");
            for w in weights.iter() { acc = acc.max(w * x); acc *= 0.5; acc += x * x; }
            acc
        }
    });
    assert_eq!(found, ["u[2]", "[3]1"]);
    let none = shapes(quote! {
        fn f(x: f64, weights: &[f64], other: &Table) -> f64 {
            let mut acc = 0.0;
            for w in 0..weights.len() { acc += weights[w] * user_code(x); acc *= 0.5; }
            for w in 0..weights.len() { acc += weights[w] * x.user_method(); acc *= 0.5; }
            for w in 0..weights.len() { acc += other[w]; acc *= 0.5; acc += 0.1; acc *= 0.3; acc += x; }
            for w in 0..other.len() { acc += x; acc *= 0.5; acc += 0.1; acc *= 0.3; acc += x; }
            acc
        }
    });
    assert!(none.is_empty());
}

#[test]
fn small_loops_are_left_to_the_vectoriser() {
    let found = shapes(quote! {
        fn f(a: f64, b: f64, #[shared] steps: usize) -> f64 {
            let mut s = [a, b];
            for _ in 0..steps {
                let k = [s[1], -s[0]];
                for d in 0..2 { s[d] += 0.01 * k[d]; }
            }
            for d in 0..2 { s[d] *= 0.5; }
            s[0] + s[1]
        }
    });
    assert_eq!(found, ["1[2]2"]);
    let none = shapes(quote! {
        fn f(x: f64) -> f64 {
            let mut y = x;
            for _ in 0..5 { y = 0.5 * (y + x / y); }
            y
        }
    });
    assert!(none.is_empty());
}

#[test]
fn a_row_indexed_by_a_member_stays_with_its_lane() {
    let element = shapes(quote! {
        fn f(x: usize) -> u32 {
            let mut seen = [0u32; 50];
            for i in 0..50 { seen[(x * i) % 50] += 1; seen[i] ^= 3; }
            seen[7]
        }
    });
    assert_eq!(element, ["f[2]1"]);
    let row = shapes(quote! {
        fn f(x: usize) -> u32 {
            let mut seen = [[0u32; 20]; 50];
            for i in 0..50 { seen[(x * i) % 50] = [3; 20]; seen[i][0] ^= 3; }
            seen[7][2]
        }
    });
    assert!(row.is_empty());
}

#[test]
fn pieces_end_where_lanes_leave() {
    let found = shapes(quote! {
        fn f(list: &[f64], others: &[f64], x: f64) -> f64 {
            let mut sum = 0.0;
            for i in 0..list.len() {
                sum += list[i] * x;
                if sum > 4.0 { sum -= 1.0; break; }
                sum *= 0.5;
                for other in others {
                    if *other > sum { break; }
                    sum -= *other;
                }
                sum += x * x;
            }
            sum
        }
    });
    assert_eq!(found, ["1[21[11]1]1"]);
}

#[test]
fn loops_that_are_left_are_blocks_where_lanes_look_at_elements_of_their_own() {
    let none = |body: TokenStream| {
        let found = shapes(quote! {
            fn f(list: &[f64], x: f64, n: u32) -> f64 {
                let mut y = x;
                #body
                y
            }
        });
        assert_eq!(found, [""; 0]);
    };
    none(quote!(for i in 0..100 {
        y = y * y + x;
        y -= x * 0.5;
        if y > 4.0 {
            break;
        }
    }));
    none(quote!(for w in list {
        y += w * x;
        if y > 4.0 {
            if x > 1.0 {
                break;
            }
            y += 1.0;
        }
    }));
    none(quote!('all: for w in list {
        y += w * x;
        if y > 4.0 {
            break 'all;
        }
    }));
}

#[test]
fn a_borrow_is_not_cut_off() {
    let item = quote! {
        fn f(x: f64) -> f64 {
            let table = make(x);
            let first = table.first();
            let mut acc = 0.0;
            for i in 0..100 { acc += x * i as f64; acc *= 0.5; }
            acc + take(first)
        }
    };
    assert!(shapes(item).is_empty());
}

#[test]
fn a_loop_inside_a_divergent_one() {
    let source = |trips: usize| {
        quote! {
            fn f(mut x: f64, n: u32) -> f64 {
                let mut i = 0;
                while i < n {
                    for k in 0..#trips { x = x * 0.5 + k as f64; }
                    i += 1;
                }
                x
            }
        }
    };
    assert!(shapes(source(20)).is_empty(), "LLVM unrolls that");
    assert_eq!(shapes(source(500)), ["[1]1"]);
}

#[test]
fn structs_of_a_shared_list_are_read_by_fields() {
    let found = shapes(quote! {
        fn f(x: f32, n: u32, scene: &[Ball]) -> f32 {
            let mut near = x;
            let mut at = 0;
            for (i, ball) in scene.iter().enumerate() {
                let square = ball.radius * ball.radius;
                let d = (ball.centre.x - x) * (ball.centre.x - x) - square;
                if d > 0.0 && d < near { near = d; at = i; }
            }
            let mut m = 0;
            while m < n { near *= 0.5; m += 1; }
            near + scene[at].radius
        }
    });
    assert_eq!(found, ["2[u2]u"]);
    let found = shapes(quote! {
        fn f(x: f32, scene: &[Ball], pairs: &[(f32, f32)], #[shared] n: usize) -> f32 {
            let mut near = x;
            for &ball in scene { near = near.min((ball.x - x) * ball.radius + x * x + near * near); }
            for &(a, b) in pairs { let far = a - b; near += (x - a) * (near - b) * far + near * near; }
            for i in 0..n { let ball = &scene[i]; let y = scene[i + 1].y; near += (ball.x - x) * y + near * near; }
            near
        }
    });
    assert_eq!(found, ["1[1][u1][uu1]1"]);
    let none = shapes(quote! {
        fn f(x: f32, scene: &[Ball]) -> f32 {
            let mut near = x;
            for ball in scene.iter() { near += ball.distance(x) * 0.5 + x * x + near * near; }
            for ball in scene.iter() { let copy = *ball; near += copy.radius * 0.5 + x * x + near * near; }
            for ball in scene.iter() { let Ball { radius, .. } = ball; near += radius * 0.5 + x * x + near * near; }
            near
        }
    });
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn an_array_is_filled_unless_it_is_overwritten_first() {
    let starts_with = |start: &str, first: &str| {
        let code: TokenStream = first.parse().expect("tokens");
        let found = shapes(quote! {
            fn f(x: f32, y: f32) -> f32 {
                let mut a = [0.5f32; 20];
                let mut s = x;
                #code
                for k in 0..20 { s = s * y + a[k]; a[k] = s; }
                s
            }
        });
        assert!(found[0].starts_with(start), "{first}: {found:?}");
    };
    starts_with("o", "for k in 0..20 { let z = x * y; a[k] = s * z; s += a[k]; }");
    starts_with("o", "for k in 0..=19 { s += y; a[k] = s; }");
    starts_with("o", "for k in 0..3 { s *= y; } for k in 0..20 { a[k] = s; }");
    starts_with("f1o", "let mut b = [s; N]; for k in 0..N { b[k] = y; } for k in 0..N { s += b[k]; }");
    // Not all elements.
    starts_with("f", "for k in 0..19 { s *= y; a[k] = s; }");
    starts_with("f", "for k in 1..20 { s *= y; a[k] = s; }");
    starts_with("f", "for k in 0..20 { s *= y; a[19 - k] = s; }");
    starts_with("f", "for k in 0..20 { if s > y { a[k] = s; } s *= y; }");
    starts_with("f", "for k in 0..N { s *= y; a[k] = s; }");
    // Read first.
    starts_with("f", "for k in 0..20 { s *= y; a[k] = s + a[19 - k]; }");
    starts_with("f", "for k in 0..20 { s *= y; a[k] += s; }");
    starts_with("f", "for k in 0..20 { s += a[3]; a[k] = s; }");
    starts_with("f", "s += a[7]; for k in 0..20 { s *= y; a[k] = s; }");
    starts_with("f", "for j in 0..2 { for k in 0..20 { s *= y; a[k] = s; } }");
}

#[test]
fn arrays_of_arrays_and_rounds_cut_short() {
    let found = shapes(quote! {
        fn f(x: f64) -> f64 {
            let mut p = [[x; 3]; 12];
            let mut q = p;
            for r in 0..20 {
                for i in 0..12 {
                    if i == r { continue; }
                    p[i] = q[0];
                    if x > 1.0 { continue; }
                    for k in 0..3 { p[i][k] += q[r % 12][k]; }
                }
                let next = q;
                q = p;
                p = next;
            }
            p[0][0]
        }
    });
    // `p[i] = q[0]` takes the row apart: it, and three elements.
    assert_eq!(found, ["fc[[u5]ccc]1"]);
}

#[test]
fn an_array_that_only_becomes_another_is_that_other() {
    let found = shapes(quote! {
        fn f(x: f64) -> f64 {
            let mut p = [[x; 4]; 4];
            for r in 0..20 {
                let mut c = [[0.0; 4]; 4];
                for i in 0..4 {
                    for j in 0..4 {
                        for k in 0..4 { c[i][j] += p[i][k] * p[k][j]; }
                    }
                }
                let square: [[f64; 4]; 4] = c;
                let mut d = [[1.0; 4]; 4];
                for i in 0..4 {
                    for j in 0..4 { d[i][j] -= square[j][i]; }
                }
                p = d;
            }
            p[0][0]
        }
    });
    assert_eq!(found, ["f[f[[1]]f[1]]1"]);
    // The old value is still looked at.
    let found = shapes(quote! {
        fn f(x: f64) -> f64 {
            let mut p = [x; 16];
            for r in 0..20 {
                let mut c = [0.0; 16];
                for i in 0..16 { c[i] = p[15 - i]; }
                p = c;
            }
            p[0]
        }
    });
    assert_eq!(found, ["f[o[1]c]1"]);
    // It is kept by every other round.
    let found = shapes(quote! {
        fn f(x: f64) -> f64 {
            let mut p = [x; 16];
            for r in 0..20 {
                let mut c = [0.0; 16];
                for i in 0..16 { c[i] = x * 0.5; }
                if r % 2 == 1 { continue; }
                p = c;
            }
            p[0]
        }
    });
    assert_eq!(found, ["f[o[1]uc]1"]);
}

#[test]
fn searches_among_elements_run_together() {
    let found = shapes(quote! {
        fn f(xs: &[i32], x: i32) -> usize {
            if x < 0 { return 0; }
            for i in 0..xs.len() {
                for j in i..xs.len() {
                    if xs[i] * xs[j] == x { return i; } else if xs[j] > x { let k = i + j; return k; }
                }
            }
            xs.len()
        }
    });
    // What the others get stands with what is returned in the loops.
    assert_eq!(found, ["[[1]]1"]);
    let none = |item: TokenStream| assert!(shapes(item).is_empty());
    // Rounds that look at nothing by their number: members that are through make room for others.
    none(quote! {
        fn f(x: f64, n: &u32) -> u32 {
            let (mut a, mut b) = (0.0, 0.0);
            for i in 0..*n {
                if a * a + b * b > 4.0 { return i; }
                (a, b) = (a * a - b * b + x, 2.0 * a * b);
            }
            *n
        }
    });
    // A value that is not returned in a statement of its own.
    none(quote! {
        fn f(xs: &[i32], x: i32) -> i32 {
            let mut sum = 0;
            for i in 0..xs.len() {
                let y = if xs[i] > x { return i as i32; } else { xs[i] * x };
                sum += y * y + x;
            }
            sum
        }
    });
    // Calls have engines of their own.
    none(quote! {
        fn f(xs: &[i32], x: i32) -> i32 {
            for i in 0..xs.len() {
                if xs[i] * 3 + x > 0 { return xs[i]; }
            }
            f(xs, x + 1)
        }
    });
}

#[test]
fn loops_over_arrays_whose_ends_differ() {
    let found = shapes(quote! {
        fn f(#[each] a: &[u8], #[each] b: &[u8]) -> u32 {
            let mut row = [0u32; 65];
            let mut next = [0u32; 65];
            for j in 0..=b.len() { row[j] = j as u32; }
            for (i, x) in a.iter().enumerate() {
                next[0] = i as u32;
                for (j, &y) in b.iter().enumerate() {
                    next[j + 1] = row[j].min(next[j]) + if *x == y { 0 } else { 1 };
                }
                std::mem::swap(&mut row, &mut next);
            }
            row[b.len()]
        }
    });
    // The ends and the numbers of rounds are pieces of their own.
    assert_eq!(found, ["ff2<1>2<4<2>s>1"]);
}

#[test]
fn a_counted_loop_may_be_left_early() {
    let found = shapes(quote! {
        fn f(#[each] a: &[u32]) -> u32 {
            let mut row = [0u32; 65];
            for j in 0..a.len() {
                row[j] = a[j];
                if row[j] == 3 { break; }
            }
            row[3]
        }
    });
    assert_eq!(found, ["f2<2>1"]);
}

#[test]
fn loops_whose_ends_differ_stay_blocks() {
    let without_array = quote! {
        fn f(n: u32) -> u32 {
            let mut sum = 0;
            for k in 0..n { sum += k * k; }
            sum
        }
    };
    let from_anywhere = quote! {
        fn f(n: usize) -> u32 {
            let mut row = [0u32; 65];
            for j in n..2 * n { row[j] = j as u32; }
            row[3]
        }
    };
    for function in [without_array, from_anywhere] {
        assert_eq!(shapes(function), [""; 0]);
    }
}

#[test]
fn variables_that_are_assigned_the_same_in_all_lanes() {
    let found = shapes(quote! {
        fn f(x: f32, table: &[f32]) -> f32 {
            let (mut sum, mut own, mut seen) = (x, 1.0f32, 0);
            let mut last = table.len() - 1;
            let mut total = 0.0;
            let mut mine = 0.0f32;
            for i in 0..table.len() {
                sum += (table[i] - x) * table[last] + total * own;
                if i > 3 { total += table[i]; } else { total = 1.0; }
                if sum > x { mine = total; }
                last = i;
            }
            for i in 0..table.len() {
                seen = i;
                if table[i] > x { break; }
                own = own * x + table[i] * sum + own * own;
            }
            sum + mine + own + seen as f32
        }
    });
    // What some lanes assign, or those that are still in the loop, stays a variable of each lane's.
    assert_eq!(found, ["1uu1[1u1u][111]1"]);
}

#[test]
fn heavy_branches_come_apart() {
    let heavy = apart(quote! {
        fn f(x: f64, xs: &[f64]) -> f64 {
            let mut s = 0.0;
            for v in xs {
                let d = v * x - s;
                if d > 0.0 { s += d.sqrt() / x; }
                let (a, b) = if d < 1.0 { (0.0, -1.0) } else { (d.sqrt(), 1.0 / x) };
                s += a * b;
                if d > 3.0 {} else { s -= d.exp(); }
            }
            s
        }
    });
    assert_eq!(heavy, "1[bbb]1");
    // Light; with two values that are computed; left; with a value that may not be there.
    let light = apart(quote! {
        fn f(x: f64, xs: &[f64]) -> f64 {
            let mut s = 0.0;
            for v in xs {
                if *v > 0.0 { s += v / x; }
                let a = if *v < 1.0 { s.sqrt() / x } else { x.sqrt() / s };
                if *v < a { s = x.sqrt() / s; break; }
            }
            s
        }
    });
    assert_eq!(light, "1[3]1");
}

#[test]
fn parts_of_elements_are_the_same_for_all_lanes() {
    let found = |body: TokenStream| {
        shapes(quote! {
            fn f(x: f32, points: &[[f32; 2]], rows: &[Vec<f32>]) -> f32 {
                let mut s = x;
                #body
                s
            }
        })
    };
    for body in [
        quote!(for p in points {
            s = s * p[0] + p[1];
        }),
        quote!(for &p in points {
            s = s * p[0] + p[1];
        }),
        quote!(for [a, b] in points {
            s = s * a + b;
        }),
        quote!(for (i, &[a, b]) in points.iter().enumerate() {
            s = s * a + b * i as f32;
        }),
    ] {
        assert_eq!(found(body.clone()), ["1[1]1"], "{body}");
    }
    for body in [
        quote!(for i in 0..points.len() {
            let p = points[i];
            s = s * p[0] + p[1];
        }),
        quote!(for i in 0..points.len() {
            let [a, b] = points[i];
            s = s * a + b;
        }),
    ] {
        assert_eq!(found(body.clone()), ["1[u1]1"], "{body}");
    }
    for body in [
        quote!(for row in rows {
            for v in row {
                s += v * x;
            }
        }),
        quote!(for row in rows {
            for i in 0..row.len() {
                s += row[i] * x;
            }
        }),
        quote!(for i in 0..rows.len() {
            for v in rows[i].iter() {
                s += v * x;
            }
        }),
    ] {
        assert_eq!(found(body.clone()), ["1[[1]]1"], "{body}");
    }
    // An element of a lane's own is no list that all lanes go through.
    assert!(
        found(quote!(for _ in 0..9 {
            for v in &rows[s as usize] {
                s += v * x;
            }
        }))
        .is_empty()
    );
}
