//! Loops over shared lists of structures and tuples, in the ways in which users write them, and variables that are the same for all members
//! although the loop assigns to them.

#![allow(clippy::needless_range_loop, clippy::assign_op_pattern)] // written as users write

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{agree_at, column, executors};
use autobatch::{BatchError, Options, Outcome, autobatch};

const SIZES: [usize; 3] = [1, 67, 300];

#[derive(Clone, Copy, Debug)]
struct Point {
    x: f64,
    y: f64,
}

/// Whether a place is in a polygon, by the edges that are crossed on the way out.
#[autobatch(strict)]
fn by_values(x: f64, y: f64, polygon: &[Point]) -> bool {
    let mut inside = false;
    let mut last = polygon[polygon.len() - 1];
    for &p in polygon {
        if (p.y > y) != (last.y > y) && x < (last.x - p.x) * (y - p.y) / (last.y - p.y) + p.x {
            inside = !inside;
        }
        last = p;
    }
    inside
}

#[autobatch(strict)]
fn by_indices(x: f64, y: f64, polygon: &[Point]) -> bool {
    let mut inside = false;
    let mut j = polygon.len() - 1;
    for i in 0..polygon.len() {
        let (p, q) = (polygon[i], polygon[j]);
        if (p.y > y) != (q.y > y) && x < (q.x - p.x) * (y - p.y) / (q.y - p.y) + p.x {
            inside = !inside;
        }
        j = i;
    }
    inside
}

#[autobatch(strict)]
fn by_references(x: f64, y: f64, polygon: &[Point]) -> i32 {
    let mut winding = 0;
    for i in 0..polygon.len() {
        let p = &polygon[i];
        let q = &polygon[(i + 1) % polygon.len()];
        let side = (q.x - p.x) * (y - p.y) - (x - p.x) * (q.y - p.y);
        if p.y <= y {
            if q.y > y && side > 0.0 {
                winding += 1;
            }
        } else if q.y <= y && side < 0.0 {
            winding -= 1;
        }
    }
    winding
}

#[autobatch(strict)]
fn by_tuples(x: f64, y: f64, polygon: &[(f64, f64)]) -> bool {
    let mut inside = false;
    let (mut qx, mut qy) = polygon[polygon.len() - 1];
    for &(px, py) in polygon {
        if (py > y) != (qy > y) && x < (qx - px) * (y - py) / (qy - py) + px {
            inside = !inside;
        }
        (qx, qy) = (px, py);
    }
    inside
}

#[autobatch(strict)]
fn by_columns(x: f64, y: f64, xs: &[f64], ys: &[f64]) -> bool {
    let mut inside = false;
    let n = xs.len();
    for i in 0..n {
        let j = if i == 0 { n - 1 } else { i - 1 };
        if (ys[i] > y) != (ys[j] > y) && x < (xs[j] - xs[i]) * (y - ys[i]) / (ys[j] - ys[i]) + xs[i] {
            inside = !inside;
        }
    }
    inside
}

fn polygon() -> Vec<Point> {
    let corner = |i: i32| {
        let far = 1.0 + f64::from(i * 7 % 5) / 4.0;
        let angle = f64::from(i) / 4.5;
        Point { x: far * angle.cos(), y: far * angle.sin() }
    };
    (0..28).map(corner).collect()
}

fn places() -> Vec<(f64, f64)> {
    let place = |i: i32| (f64::from(i * 37 % 101) / 25.0 - 2.0, f64::from(i * 53 % 97) / 24.0 - 2.0);
    (0..300).map(place).collect()
}

type Run<R> = fn(&[(f64, f64)], &[Point], &Options) -> Result<Outcome<R>, BatchError>;

#[test]
fn loops_over_structures_and_tuples() {
    let (polygon, places) = (polygon(), places());
    let pairs: Vec<(f64, f64)> = polygon.iter().map(|p| (p.x, p.y)).collect();
    let (xs, ys): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let inside = |m: &(f64, f64)| by_values(m.0, m.1, &polygon);
    let x = |b: &[(f64, f64)]| column(b, |m| m.0);
    let y = |b: &[(f64, f64)]| column(b, |m| m.1);
    let ways: [Run<bool>; 2] = [
        |b, p, o| by_values_batched_with(column(b, |m| m.0), column(b, |m| m.1), p, o),
        |b, p, o| by_indices_batched_with(column(b, |m| m.0), column(b, |m| m.1), p, o),
    ];
    for way in ways {
        agree_at(&SIZES, &places, inside, |b, o| way(b, &polygon, o));
    }
    agree_at(&SIZES, &places, inside, |b, o| by_tuples_batched_with(x(b), y(b), &pairs, o));
    agree_at(&SIZES, &places, inside, |b, o| by_columns_batched_with(x(b), y(b), &xs, &ys, o));
    agree_at(
        &SIZES,
        &places,
        |m| by_references(m.0, m.1, &polygon),
        |b, o| by_references_batched_with(x(b), y(b), &polygon, o),
    );
    let programs = [
        by_values_batched::program().to_string(),
        by_indices_batched::program().to_string(),
        by_references_batched::program().to_string(),
        by_tuples_batched::program().to_string(),
        by_columns_batched::program().to_string(),
    ];
    for program in programs {
        assert!(program.contains("once for all members, on vectors across them"), "{program}");
    }
}

/// What pulls at a place: tuples that are changed by parts and as a whole, and a result of several parts.
#[autobatch(strict)]
fn pulled(x: f64, y: f64, points: &[Point]) -> Option<(f64, f64, u32)> {
    let mut pull = (0.0, 0.0);
    let mut nearest = (f64::MAX, 0);
    for (i, p) in points.iter().enumerate() {
        let (dx, dy) = (p.x - x, p.y - y);
        let square = dx * dx + dy * dy + 0.0625;
        let weight = 1.0 / (square * square.sqrt());
        pull.0 += weight * dx;
        pull.1 += weight * dy;
        if square < nearest.0 {
            nearest = (square, i as u32);
        }
        if nearest.1 > 9 {
            pull = (pull.1, pull.0 * 0.5);
        }
    }
    let (far, at) = nearest;
    if far > 3.0 { None } else { Some((pull.0, pull.1, at)) }
}

#[test]
fn tuples_and_results_of_several_parts() {
    let (polygon, places) = (polygon(), places());
    let batched = |b: &[(f64, f64)], o: &Options| {
        pulled_batched_with(column(b, |m| m.0), column(b, |m| m.1), &polygon, o)
    };
    // What results consist of is compared bit by bit.
    let bits =
        |r: Option<(f64, f64, u32)>| r.map_or([0, 0, 7], |r| [r.0.to_bits(), r.1.to_bits(), r.2.into()]);
    for (how, options) in executors() {
        let got = batched(&places, &options).unwrap().into_values().unwrap();
        let want: Vec<_> = places.iter().map(|m| bits(pulled(m.0, m.1, &polygon))).collect();
        assert_eq!(got.into_iter().map(bits).collect::<Vec<_>>(), want, "{how}");
    }
    let program = pulled_batched::program().to_string();
    assert!(program.contains("once for all members, on vectors across them"), "{program}");
}

/// Lists that are fields of what all members share.
struct Scene {
    points: Vec<Point>,
    weights: [f64; 28],
}

#[autobatch(strict)]
fn in_fields(x: f64, y: f64, scene: &Scene) -> f64 {
    let mut sum = 0.0;
    for p in &scene.points {
        let (dx, dy) = (p.x - x, p.y - y);
        sum += dx * dx / (dy * dy + 0.5);
    }
    for (p, weight) in scene.points.iter().zip(&scene.weights) {
        sum = sum * 0.5 + weight * (p.x - sum * p.y);
    }
    for i in 0..scene.points.len() {
        let p = &scene.points[i];
        if sum > scene.weights[i] {
            sum -= p.x * scene.points[(i + 1) % scene.points.len()].y;
        }
    }
    sum + scene.points.iter().map(|p| p.x * y - p.y * x).sum::<f64>()
}

const CORNERS: [Point; 12] = [Point { x: 0.5, y: 0.25 }; 12];

#[autobatch(strict)]
fn in_a_constant(x: f64, y: f64) -> f64 {
    let mut sum = y;
    for p in &CORNERS {
        sum += (p.x - x) * sum + p.y * x;
    }
    for i in 0..CORNERS.len() {
        sum = sum * 0.25 + CORNERS[i].x * x - CORNERS[i].y;
    }
    sum
}

#[test]
fn lists_in_fields_and_constants() {
    let (places, mut weights) = (places(), [0.0; 28]);
    weights.iter_mut().enumerate().for_each(|(i, w)| *w = (i * 5 % 11) as f64 / 4.0 - 1.0);
    let scene = Scene { points: polygon(), weights };
    let x = |b: &[(f64, f64)]| column(b, |m| m.0);
    let y = |b: &[(f64, f64)]| column(b, |m| m.1);
    agree_at(
        &SIZES,
        &places,
        |m| in_fields(m.0, m.1, &scene),
        |b, o| in_fields_batched_with(x(b), y(b), &scene, o),
    );
    agree_at(&SIZES, &places, |m| in_a_constant(m.0, m.1), |b, o| in_a_constant_batched_with(x(b), y(b), o));
    for (program, loops) in [(in_fields_batched::program(), 4), (in_a_constant_batched::program(), 2)] {
        let text = program.to_string();
        assert_eq!(text.matches("once for all members, on vectors across them").count(), loops, "{text}");
    }
}

/// No list, but with the names of one's methods.
struct Watched;
static LOOKS: AtomicUsize = AtomicUsize::new(0);
static WATCHED: [Point; 20] = [Point { x: 0.5, y: 0.25 }; 20];

impl Watched {
    fn iter(&self) -> std::slice::Iter<'static, Point> {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        WATCHED.iter()
    }
    fn len(&self) -> usize {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        WATCHED.len()
    }
}

impl std::ops::Index<usize> for Watched {
    type Output = Point;
    fn index(&self, at: usize) -> &Point {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        &WATCHED[at]
    }
}

const WATCH: Watched = Watched;

struct Watch {
    points: Watched,
}

#[autobatch(strict)]
fn watched(x: f64, watch: &Watch) -> f64 {
    let mut sum = x;
    for p in WATCH.iter() {
        sum += (p.x - x) * sum + p.y * x;
    }
    for p in watch.points.iter() {
        sum = sum * 0.5 + (p.x - x) * sum + p.y * x;
    }
    for i in 0..watch.points.len() {
        sum = sum * 0.25 + WATCH[i].x * x - watch.points[i].y;
    }
    sum
}

#[test]
fn a_users_list_keeps_its_effects() {
    let x: Vec<f64> = (0..131).map(f64::from).collect();
    for (how, options) in executors() {
        LOOKS.store(0, Ordering::Relaxed);
        let got = watched_batched_with(&x, &Watch { points: Watched }, &options).unwrap();
        assert_eq!(LOOKS.load(Ordering::Relaxed), 131 * (3 + 2 * 20), "{how}");
        let want: Vec<f64> = x.iter().map(|x| watched(*x, &Watch { points: Watched })).collect();
        assert_eq!(got.into_values().unwrap(), want, "{how}");
    }
}

/// Collections that are no lists: without an index, and with one that is no number.
struct Collections {
    own: Own,
    typed: Typed,
    set: BTreeSet<(u8, u8)>,
}

struct Own([Point; 30]);

impl Own {
    fn iter(&self) -> std::slice::Iter<'_, Point> {
        self.0.iter()
    }
}

#[derive(Clone, Copy, Debug)]
struct Place(usize);

struct Typed([Point; 30]);

impl std::ops::Index<Place> for Typed {
    type Output = Point;
    fn index(&self, at: Place) -> &Point {
        &self.0[at.0]
    }
}

#[autobatch(strict)]
fn collected(x: f64, #[shared] at: Place, all: &Collections) -> f64 {
    let mut sum = x;
    for p in all.own.iter() {
        sum += (p.x - x) * sum + p.y * x;
    }
    for &(a, b) in &all.set {
        sum = sum * f64::from(a) - x * f64::from(b) + sum * x;
    }
    for i in 0..40 {
        sum = sum * 0.25 + all.typed[at].x * x - all.typed[at].y * i as f64;
    }
    sum
}

#[test]
fn collections_that_are_no_lists() {
    let corner = |i: usize| Point { x: i as f64 * 0.125, y: 1.0 - i as f64 * 0.0625 };
    let points = std::array::from_fn(corner);
    let all = Collections { own: Own(points), typed: Typed(points), set: [(1, 2), (3, 4)].into() };
    let x: Vec<f64> = (0..131).map(|i| f64::from(i) / 64.0 - 1.0).collect();
    agree_at(
        &SIZES,
        &x,
        |x| collected(*x, Place(3), &all),
        |b, o| collected_batched_with(b, Place(3), &all, o),
    );
}

/// What is the same for all members, and changes; what begins as that and ends as a member's own; and what a member keeps that leaves the loop.
#[autobatch(strict)]
fn changing(x: i64, weights: &[i64]) -> i64 {
    let (mut sum, mut own, mut kept, mut seen) = (0i64, 1i64, -1i64, 0i64);
    let mut last = 7;
    for i in 0..weights.len() {
        sum += weights[i];
        if i % 5 == 4 {
            last = sum - last;
        } else if i % 7 == 1 {
            sum = sum ^ 3;
        }
        own = own.wrapping_mul(sum ^ x) ^ last;
        if x == weights[i] {
            own = sum;
        }
    }
    for i in 0..weights.len() {
        seen = i as i64;
        if weights[i] > x {
            break;
        }
        kept = seen;
        own ^= kept << 3;
    }
    own ^ sum.wrapping_mul(31) ^ last ^ kept.wrapping_mul(1009) ^ seen.wrapping_mul(77)
}

#[test]
fn variables_that_all_members_share_while_they_change() {
    let weights: Vec<i64> = (0..40).map(|i| i * 29 % 41 - 9).collect();
    let x: Vec<i64> = (0..300).map(|i| i % 37 - 12).collect();
    for weights in [&weights[..], &weights[..1], &[]] {
        agree_at(&SIZES, &x, |x| changing(*x, weights), |b, o| changing_batched_with(b, weights, o));
    }
}

/// Looks behind the list's end where a member wants it.
#[autobatch(strict)]
fn behind(x: f64, list: &[f64]) -> f64 {
    let (mut sum, mut next) = (x, 0);
    for i in 0..40 {
        if sum < 1.5 {
            sum += list[next] * 0.5;
        }
        next = i + 1;
        sum *= 1.0625;
    }
    sum
}

#[test]
fn what_lies_behind_a_list_is_a_fault_of_those_who_look() {
    let list: Vec<f64> = (0..30).map(|i| f64::from(i % 3) / 64.0).collect();
    let x: Vec<f64> = (0..200).map(|i| if i % 67 == 5 { -1e9 } else { 1.0 + f64::from(i) / 50.0 }).collect();
    for (how, options) in executors() {
        let outcome = behind_batched_with(&x, &list, &options).unwrap();
        let mut faults: Vec<_> = outcome.faults().iter().map(|f| (f.member, f.message.clone())).collect();
        faults.sort();
        assert_eq!(faults.iter().map(|f| f.0).collect::<Vec<_>>(), [5, 72, 139], "{how}");
        assert!(
            faults.iter().all(|f| f.1.contains("the len is 30 but the index is 30")),
            "{how}: {faults:?}"
        );
        for (member, result) in outcome.into_results().into_iter().enumerate().filter(|(m, _)| m % 67 != 5) {
            assert_eq!(result.unwrap().to_bits(), behind(x[member], &list).to_bits(), "{how}, {member}");
        }
    }
}
