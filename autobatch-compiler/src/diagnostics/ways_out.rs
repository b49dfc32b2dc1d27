//! What to write instead of what runs scalar code, where `strict` refuses it.

/// Parts of the reasons (see [`crate::ir::Note`]), and what to write instead.
const WAYS_OUT: [(&str, &str); 32] = [
    ("or `continue` in a macro's tokens", "make the value in a `let` before the macro"),
    (
        "call inside a closure",
        "call it in a loop, or in the closure of an adaptor whose chain ends where it stands",
    ),
    ("the macro holds a `return`", "write out what the macro does"),
    ("the macro makes names", "write out what the macro makes"),
    ("the definition of a macro stands", "write out what the macro does, or call a function"),
    ("a macro that is defined in the body", "give it the locals as arguments"),
    ("inside a macro's tokens", "make the call in a `let` before the macro"),
    ("is used as a value", "call it by its name where its value is needed"),
    ("type of the receiver is not known", "name the type, `Self::method(receiver, …)`"),
    ("a generic function is batched only", "write this function for the type that it is called with"),
    ("under conditions, and the macro can't know", "make it one function, with `if cfg!(…)` inside"),
    (
        "a method of a trait of the library",
        "call a function with the same code, and let the method call it too",
    ),
    ("two methods of the type have this name", "give one of the two another name"),
    ("for types of the crate only", "call a function that takes the value as a parameter"),
    ("the name of a number's own", "name the trait, `Trait::method(&x, &y)`"),
    ("two underscores are those of generated code", "give it another name"),
    ("may rely on where a local is", "put the `unsafe` code in a function of its own"),
    ("has an item of the same name", "give one of the two another name"),
    (
        "has a name that code outside of the block uses",
        "give it another name, or put it outside of the function",
    ),
    ("is used on both sides of a loop or call", "borrow anew behind the loop or call, or keep an index"),
    ("is lent to the call", "hand on a value, an index, or a reference that the function was given"),
    ("what the call is handed may borrow", "make it in a `let` with its type, if that has no lifetime"),
    ("made in the middle of it", "make it in a `let` before"),
    ("a part of what a `&mut` refers to", "take the part as a parameter of its own, or hand on the whole"),
    ("a `&mut` is handed on as a parameter with a named lifetime", "leave the lifetime out"),
    ("a `&mut` is handed on to a call whose result", "return an index or an owned value"),
    ("and mentioned in another argument", "make the other argument in a `let` before"),
    ("what is kept across a loop or call", "make the value in a `let` before, or borrow anew behind"),
    ("a match guard that calls", "make the call in an `if` inside the arm, or in a `let` before the `match`"),
    ("can't be hoisted out of it", "make the call in a `let` before"),
    (
        "what borrows from a local can't be gathered",
        "make the value in a `let` before, and pass `&x` or `&x.field`",
    ),
    ("what the kernel changes has to be a local", "copy it to a local before the call, and back behind it"),
];

/// What to write instead; `fibers` where it may be run on fibers, but no primitive is seen.
pub(crate) fn way_out(why: &str, fibers: bool) -> String {
    let known = WAYS_OUT.iter().find(|(part, _)| why.contains(part)).map(|(_, way)| *way);
    let known = known.unwrap_or("make it a plain call in the function's own body");
    let reached = if fibers { "name the primitive that it reaches, `primitives(path)`, or " } else { "" };
    format!("{known}, or {reached}leave `strict` out")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_reason_is_given_somewhere() {
        let mut sources = Vec::new();
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("diagnostics/ways_out.rs") {
                    sources.push(fs::read_to_string(path).expect("a file"));
                }
            }
        }
        for (part, _) in WAYS_OUT {
            assert!(sources.iter().any(|source| source.contains(part)), "no reason says {part:?}");
        }
    }

    #[test]
    fn an_unknown_reason_has_a_way_out_too() {
        assert_eq!(
            way_out("x", false),
            "make it a plain call in the function's own body, or leave `strict` out"
        );
        assert!(
            way_out("a match guard that calls a batched function", true)
                .starts_with("make the call in an `if`")
        );
    }
}
