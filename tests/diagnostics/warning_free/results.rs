//! Results that are coerced, converted or inferred from the signature, in bodies of every kind.
//!
//! What keeps errors from being shown twice has the body, but not the signature's result.

#![allow(missing_docs, clippy::must_use_candidate, clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![allow(clippy::needless_pass_by_value)] // a column has values

use ::std::collections::{BTreeMap, HashMap};
use ::std::error::Error;
use ::std::fmt::{Debug, Display};
use ::std::rc::Rc;
use ::std::sync::Arc;
use autobatch::autobatch;

pub type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;
pub type Shown = Box<dyn Display + Send + Sync>;
pub type Op = fn(u64) -> u64;
pub type Row<'a> = &'a [u64];

#[autobatch]
pub fn shown(n: u64, x: f64) -> Shown {
    if n == 0 {
        return Box::new(x);
    }
    if n == 1 {
        return Box::new("text");
    }
    if x > 1.0 { shown(n - 1, x) } else { Box::new(n) }
}

#[autobatch]
pub fn boxed(n: u64) -> Box<dyn Debug + Send + Sync> {
    match n {
        0 => Box::new(n),
        1 => Box::new("text"),
        _ => boxed(n - 1),
    }
}

#[autobatch]
pub fn shared(n: u64) -> Arc<[u64]> {
    if n == 3 {
        return Arc::new([1, 2, 3]);
    }
    let v: Vec<u64> = (0..n).collect();
    v.into()
}

#[autobatch]
pub fn asked(text: String, n: u32) -> Fallible<u64> {
    if n == 0 {
        return Err("none".into());
    }
    let x: u64 = text.parse()?;
    let y = asked(text, n - 1).unwrap_or_default();
    let s = ::std::str::from_utf8(&[104, 105])?;
    if s.is_empty() {
        return Err(Box::from("x"));
    }
    if x == 77 {
        Err("seventy")?;
    }
    Ok(x.wrapping_add(y) + u64::from(n))
}

#[autobatch]
pub fn asked_written(text: String, n: u32) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let x: u64 = text.parse()?;
    if n == 0 {
        return Err("none".into());
    }
    Ok(x + asked_written(text, n - 1).unwrap_or_default())
}

#[derive(Debug)]
pub enum Wrong {
    Number(::std::num::ParseIntError),
    Empty,
}
impl From<::std::num::ParseIntError> for Wrong {
    fn from(e: ::std::num::ParseIntError) -> Self {
        Self::Number(e)
    }
}

#[autobatch]
pub fn converted(text: String, n: u32) -> Result<u64, Wrong> {
    if text.is_empty() {
        return Err(Wrong::Empty);
    }
    let x: u64 = text.parse()?;
    let all = (0..n).map(|i| converted(text.clone(), i)).sum::<Result<u64, _>>()?;
    Ok(x ^ all)
}

#[autobatch]
pub fn nothing(n: u64) -> Vec<u64> {
    if n == 0 {
        return Vec::new();
    }
    if n == 1 {
        return Vec::default();
    }
    if n == 2 {
        return vec![];
    }
    let mut v = nothing(n - 1);
    v.push(n);
    v
}

#[autobatch]
pub fn literal(n: u32) -> u16 {
    if n == 0 {
        return 65_535;
    }
    if n == 1 { 40_000 } else { literal(n - 1) }
}

#[autobatch]
pub fn float(n: u32) -> f32 {
    if n == 0 {
        return 1.5;
    }
    2.5 * float(n - 1)
}

#[autobatch]
pub fn collected(n: u32) -> Vec<(u32, f64)> {
    if n == 0 {
        return ::std::iter::empty().collect();
    }
    (0..n).map(|i| (i, f64::from(i))).collect()
}

#[autobatch]
pub fn map_of(n: u32) -> BTreeMap<u32, HashMap<String, u8>> {
    if n == 0 {
        return BTreeMap::new();
    }
    (0..n).map(|i| (i, HashMap::new())).collect()
}

#[autobatch]
pub fn tried(n: u32) -> Option<Vec<u32>> {
    (0..n).map(|i| if i < 5 { Some(i) } else { None }).collect()
}

#[autobatch]
pub fn parsed(text: String) -> f64 {
    text.parse().unwrap_or_default()
}

#[autobatch]
pub fn into(n: u32) -> u64 {
    if n == 7 {
        return 8_u8.into();
    }
    n.into()
}

#[autobatch]
pub fn summed(n: u32) -> f64 {
    (0..n).map(f64::from).sum()
}

#[autobatch]
pub fn op(n: u64) -> Op {
    if n == 0 {
        return |x| x + 1;
    }
    if n == 1 {
        return u64::count_ones_as;
    }
    match n {
        2 => twice,
        3 => |x| x * 3,
        _ => op(n - 1),
    }
}

#[autobatch]
pub fn op_written(n: u64) -> fn(u64) -> u64 {
    if n == 0 {
        return |x| x + 1;
    }
    match n {
        2 => twice,
        3 => |x| x * 3,
        _ => op_written(n - 1),
    }
}

fn twice(x: u64) -> u64 {
    2 * x
}

pub trait CountOnes {
    fn count_ones_as(self) -> u64;
}
impl CountOnes for u64 {
    fn count_ones_as(self) -> u64 {
        u64::from(self.count_ones())
    }
}

#[autobatch]
pub fn row(words: Row<'_>, n: usize) -> Option<Vec<u64>> {
    let w = words.get(n)?;
    Some(words.iter().map(|x| x ^ w).collect())
}

#[autobatch]
pub fn never_comes_back(n: u64) -> u64 {
    if n > 3 {
        return n;
    }
    panic!("no {n}")
}

#[autobatch]
pub fn only_panics(n: u64) -> u64 {
    unreachable!("{n}")
}

#[autobatch]
pub fn looping(mut n: u64) -> u64 {
    loop {
        n += 1;
        if n % 7 == 3 {
            return n;
        }
    }
}

#[autobatch]
pub fn closure_of_a_block(n: u64) -> u64 {
    let f = {
        let k = n;
        move |x: u64| x + k
    };
    if n == 0 { f(1) } else { f(closure_of_a_block(n - 1)) }
}

#[autobatch]
pub fn closure_boxed(n: u64) -> Box<dyn Fn(u64) -> u64 + Send + Sync> {
    if n == 0 {
        return Box::new(|x| x);
    }
    let f = closure_boxed(n - 1);
    Box::new(move |x| f(x) + 1)
}

#[autobatch]
pub fn optional(n: u64) -> Option<Box<dyn Fn(u64) -> u64 + Send + Sync>> {
    let f = optional(n.checked_sub(1)?);
    Some(Box::new(move |x| f.as_ref().map_or(x, |f| f(x)) + n))
}

pub type MaybeFn = Option<Box<dyn Fn(u64) -> u64 + Send + Sync>>;
#[autobatch]
pub fn optional_alias(n: u64) -> MaybeFn {
    if n == 3 {
        return Some(Box::new(|x| x));
    }
    let f = optional_alias(n.checked_sub(1)?);
    Some(Box::new(move |x| f.as_ref().map_or(x, |f| f(x)) + n))
}

pub type Text = &'static str;
#[autobatch]
pub fn text(n: u64) -> Text {
    if n == 0 {
        return "a";
    }
    text(n - 1)
}
#[autobatch]
pub fn text_of(n: u64) -> &'static str {
    match n {
        0 => "a",
        _ => text_of(n - 1),
    }
}

#[autobatch]
pub fn rc_inside(n: u64) -> u64 {
    let a = Rc::new(n);
    if n == 0 { *a } else { rc_inside(n - 1) + *a }
}

#[autobatch]
pub fn array(n: u64) -> [Option<u8>; 4] {
    if n == 0 {
        return [None; 4];
    }
    [Some(1), None, Some(3), None]
}

#[autobatch]
pub fn tuple(n: u64) -> (u8, i64, Vec<f32>) {
    if n == 0 {
        return (1, -1, vec![]);
    }
    let (a, b, c) = tuple(n - 1);
    (a.wrapping_add(1), b, c)
}

#[derive(Clone, Debug, Default)]
pub struct Walker {
    at: usize,
    steps: Vec<u32>,
}

#[autobatch]
impl Walker {
    pub fn walk(&mut self, until: usize) -> usize {
        if self.steps.len() >= until {
            return self.at;
        }
        self.steps.push(1);
        self.at += 2;
        self.walk(until)
    }

    #[must_use]
    pub fn owned(mut self, n: u32) -> Self {
        if n == 0 {
            return Self::default();
        }
        self.steps.push(n);
        self.owned(n - 1)
    }

    #[allow(clippy::boxed_local)]
    pub fn next(self: Box<Self>, n: u32) -> Option<Box<Self>> {
        if n == 0 { Some(Box::default()) } else { Box::new(Self::owned(*self, n)).next(n.checked_sub(2)?) }
    }

    #[deprecated(note = "use another")]
    pub fn r#type(&self, r#match: u64) -> u64 {
        if r#match == 0 { self.at as u64 } else { self.r#type(r#match - 1) }
    }
}

pub trait Walk {
    type Out: Debug;
    const K: u64;
    fn try_go(&self, n: u64) -> Result<Self::Out, String>;
}

#[autobatch]
impl Walk for Walker {
    type Out = u64;
    const K: u64 = 7;

    fn try_go(&self, n: u64) -> Result<Self::Out, String> {
        if n == self.at as u64 {
            return Err("none".into());
        }
        let x: u64 = "12".parse().map_err(|_| "bad")?;
        Ok(x + self.try_go(n - 1)? + Self::K)
    }
}

#[derive(Debug)]
pub struct Pair<T>(pub T, pub T);

#[autobatch]
impl Pair<f64> {
    pub fn least(&self, n: u64) -> Option<f64> {
        if n == 0 { Some(self.0.min(self.1)) } else { self.least(n - 1) }
    }
}

#[autobatch]
impl Pair<&str> {
    pub fn least(&self, n: u64) -> Option<String> {
        if n == 0 { Some(self.0.min(self.1).into()) } else { self.least(n - 1) }
    }
}

#[derive(Debug)]
pub struct Lent<'a>(&'a [u64], u64);

#[autobatch]
impl Lent<'_> {
    pub fn sum(&self, at: usize) -> u64 {
        if at >= self.0.len() { self.1 } else { self.0[at] + self.sum(at + 1) }
    }
}

#[autobatch]
pub fn lent(x: &[u64], n: u64) -> Lent<'_> {
    if n == 0 { Lent(x, n) } else { lent(&x[1..], n - 1) }
}

#[autobatch]
pub mod inner {
    #[derive(Clone, Debug)]
    pub struct Tree {
        pub left: Option<Box<Tree>>,
        pub value: u64,
    }

    impl Tree {
        #[must_use]
        pub fn grown(self, n: u64) -> Self {
            if n == 0 {
                return self;
            }
            Self { left: Some(Box::new(self)), value: n }.grown(n - 1)
        }

        fn secret(&self, n: u64) -> Option<Self> {
            if n == 0 {
                return None;
            }
            self.secret(n - 1).or_else(|| Some(self.clone()))
        }

        pub fn told(&self, n: u64) -> u64 {
            self.secret(n).map_or(0, |t| t.value)
        }
    }

    enum Kind {
        A,
        B(u64),
    }

    fn kind(n: u64) -> Kind {
        match n {
            0 => Kind::A,
            1 => Kind::B(3),
            _ => kind(n - 1),
        }
    }

    pub fn kinds(n: u64) -> u64 {
        match kind(n) {
            Kind::A => 0,
            Kind::B(x) => x,
        }
    }
}

#[autobatch]
#[track_caller]
pub fn r#type(r#fn: u64) -> u64 {
    if r#fn == 0 { 1 } else { r#type(r#fn - 1) }
}

#[autobatch]
pub const fn len_of(n: usize) -> usize {
    if n == 0 { 1 } else { len_of(n - 1) }
}
pub const LEN: usize = len_of(3);

#[autobatch]
pub fn as_long(n: u64) -> [u64; LEN] {
    if n == 0 { [n; len_of(3)] } else { as_long(n - 1) }
}

#[cfg(any())]
#[autobatch]
pub fn either(n: u64) -> u64 {
    n + missing
}

#[cfg(not(any()))]
#[autobatch]
pub fn either(n: u64) -> u64 {
    #[cfg(any())]
    let n = n + missing;
    #[cfg(not(any()))]
    let n = n + 1;
    if n > 5 { 1 } else { either(n + 1) }
}

#[autobatch]
pub fn uninhabited(n: u64) -> Result<u64, ::std::convert::Infallible> {
    if n == 0 { Ok(1) } else { uninhabited(n - 1) }
}

#[autobatch]
pub fn items(n: u64) -> u64 {
    const K: u64 = 3;
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Inner {
        a: u64,
    }
    fn helper(x: u64) -> u64 {
        x * K
    }
    let inner = Inner { a: n };
    if n == 0 { helper(inner.a) } else { items(n - 1) ^ inner.a }
}

macro_rules! make {
    ($name:ident, $t:ty, $e:expr) => {
        #[autobatch]
        pub fn $name(x: $t, n: u64) -> $t {
            if n == 0 { x + $e } else { $name(x, n - 1) }
        }
    };
}
make!(made_f, f64, 1.0);
make!(made_u, u64, 1);
