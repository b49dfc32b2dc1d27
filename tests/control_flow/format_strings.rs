//! Format strings name variables in every way they can: names hidden by later ones, widths and precisions, escaped braces,
//! raw strings, named arguments, and strings that only look alike.

#![allow(clippy::useless_vec)] // written as users write

use crate::common::agree_at;
use autobatch::autobatch;

#[autobatch]
mod std_macros {
    pub(super) fn steps(#[each] v: &[u32], n: u32) -> u32 {
        if n == 0 { v.first().map_or(0, |x| x % 50) } else { steps(v, n - 1) + 1 }
    }

    /// Behind the calls, all names are new ones, which no text may show.
    pub(super) fn hidden(n: u32) -> String {
        let x = steps(&[n], n % 3);
        let x = x + 1;
        let width = 3;
        let width = width + (x % 4) as usize;
        let digits = steps(&[x], 1) as usize % 3;
        let digits = digits + 1;
        let f = f64::from(x) / 7.0;
        let f = f + 0.5;
        let template = "<{x}>";
        [
            format!("{{x}} = {x}"),
            format!("{{{x}}} {x:?} {x }"),
            format!(r"{x}\{n}"),
            format!(r#"{x:#x} "{n}""#),
            format!("\u{3C}{x}\u{f}"),
            format!("{x:width$}|{x:<0width$}|{x:a>width$}|"),
            format!("{f:.digits$}|{f:>width$.digits$}|{:1$}|{f:.*}", x, width),
            format!("{x} {y}", y = x + 1, x = n % 7),
            format!("{} {}", "{x}", template.replace("{x}", &format!("{x}"))),
            std::format!("{x} {}", "{width}"),
        ]
        .join("; ")
    }

    /// Locals that calls borrow and a format string names.
    pub(super) fn borrowed(n: u32) -> String {
        let kept = vec![n % 5, 2];
        let lent = &kept;
        let x = steps(lent, n % 3);
        let one = format!("{kept:?}");
        let two = format!("{kept:?}{} {{kept}}", n % 4);
        let y = steps(lent, 1);
        assert!(x < 100, "{kept:?} is small");
        one + &two + &format!("{lent:?} {x} {y} {}", "{kept}")
    }

    fn walked(x: u32, n: u32) -> u32 {
        if n == 0 { x } else { walked(x * 2, n - 1) + 1 }
    }

    /// In closures, which a loop stands for.
    pub(super) fn inside(n: u32) -> String {
        let kept = vec![n % 5, 2];
        let names: Vec<String> = kept.iter().map(|x| format!("{x}{{x}}{:2}", walked(*x, n % 2))).collect();
        names.concat()
    }
}

#[allow(clippy::format_in_format_args)] // what the test is of
#[autobatch]
mod other_macros {
    /// Format strings of other macros, which are given nothing more, and names that another argument gives.
    pub(super) fn borrowed(n: u32) -> String {
        let kept = vec![n % 5, 2];
        let lent = &kept;
        let x = super::std_macros::steps(lent, n % 3);
        let named = format!("{kept}{}", lent.len(), kept = kept[1]);
        let nested = format!("{}{}", format!("{kept:?}"), x);
        named + &nested + &format!("{lent:?}{}", length(lent, 2))
    }

    fn length(v: &[u32], n: usize) -> usize {
        if n == 0 { v.len() } else { length(v, n - 1) }
    }
}

#[test]
fn format_strings_say_the_same() {
    let inputs: Vec<u32> = (0..40).map(|i| i * 7 % 23).collect();
    agree_at(&[1, 57], &inputs, |n| std_macros::hidden(*n), |n, o| std_macros::hidden_batched_with(n, o));
    agree_at(&[1, 57], &inputs, |n| std_macros::borrowed(*n), |n, o| std_macros::borrowed_batched_with(n, o));
    agree_at(&[1, 57], &inputs, |n| std_macros::inside(*n), |n, o| std_macros::inside_batched_with(n, o));
    agree_at(
        &[1, 57],
        &inputs,
        |n| other_macros::borrowed(*n),
        |n, o| other_macros::borrowed_batched_with(n, o),
    );
}
