//! The text of test crates: a module per program, with the comparison of its entry functions.

use std::fmt::Write;

use crate::tree::{Form, Function, Param, Passing, Program};
use crate::types::Ty;

/// The name of the module of a program by its place in the batch.
pub fn name(index: usize) -> String {
    format!("p{index:05}")
}

/// The place that a module's name tells.
pub fn index(name: &str) -> Option<usize> {
    name.strip_prefix('p')?.parse().ok()
}

/// The module of a program. Without `batched` only what rustc has to accept before the attribute is asked.
pub fn module(program: &Program, batched: bool) -> String {
    let mut text = String::from("use autobatch_fuzz::harness::*;\n\n");
    text.push_str(&program.source(batched));
    text.push('\n');
    text.push_str(&program.defs.print_harness());
    text.push_str("\npub fn check(case: &mut Case) {\n    for members in Case::SIZES {\n");
    for function in program.functions.iter().filter(|f| f.entry) {
        comparison(program, function, batched, &mut text);
    }
    text.push_str("    }\n}\n");
    text
}

/// The list of programs for `harness::run`: places in the batch, and seeds.
pub fn entries<'p>(programs: impl Iterator<Item = (usize, &'p Program)>) -> String {
    let mut text = String::from("&[\n");
    for (index, program) in programs {
        let name = name(index);
        let _ = writeln!(text, "    ({name:?}, {}, {name}::check),", program.seed);
    }
    text.push(']');
    text
}

fn comparison(program: &Program, function: &Function, batched: bool, to: &mut String) {
    let path = match (&function.owner, program.form) {
        (Some(owner), _) => format!("{}::", program.defs.name(&owner.ty)),
        (None, Form::Module) => "program::".into(),
        (None, _) => String::new(),
    };
    let name = &function.name;
    let column = |param: &Param| format!("in_{}", param.name);
    to.push_str("        {\n            case.begin();\n");
    for param in &function.params {
        let column = column(param);
        let of = |ty: &Ty| program.defs.name(ty);
        let _ = match param.passing {
            Passing::Each | Passing::EachRef | Passing::State => {
                writeln!(
                    to,
                    "            let mut {column}: Vec<{}> = case.dice().column(members);",
                    of(&param.ty)
                )
            }
            Passing::Fuel => writeln!(
                to,
                "            let mut {column}: Vec<u32> = case.dice().fuel(members, {});",
                program.fuel
            ),
            Passing::EachSlice => {
                let of_ty = param.ty.element().expect("a slice per member");
                writeln!(
                    to,
                    "            let mut {column}: Vec<Vec<{}>> = case.dice().column(members);",
                    of(of_ty)
                )
            }
            Passing::SharedValue => {
                writeln!(to, "            let {column}: {} = case.dice().make();", of(&param.ty))
            }
            Passing::SharedRef => match param.ty.element() {
                Some(ty) => {
                    writeln!(to, "            let {column}: Vec<{}> = case.dice().make();", of(ty))
                }
                None => writeln!(to, "            let {column}: {} = case.dice().make();", of(&param.ty)),
            },
        };
    }
    // Once with all members, once more without those that panic.
    to.push_str("            for again in [false, true] {\n            if again {\n                let Some(keep) = case.survivors() else { break };\n");
    for param in &function.params {
        if !matches!(param.passing, Passing::SharedValue | Passing::SharedRef) {
            let column = column(param);
            let _ = writeln!(to, "                {column} = pick({column}, &keep);");
        }
    }
    let counted =
        function.params.iter().find(|p| !matches!(p.passing, Passing::SharedValue | Passing::SharedRef));
    let counted = counted.map(&column).expect("a parameter per member");
    let _ = writeln!(to, "            }}\n            let members = {counted}.len();");
    let states: Vec<&Param> = function.params.iter().filter(|p| p.passing == Passing::State).collect();
    // The scalar call.
    to.push_str("            case.compare(members, |member| {\n");
    for state in &states {
        let _ = writeln!(to, "                let mut s_{} = {}[member].clone();", state.name, column(state));
    }
    let args: Vec<String> = function
        .params
        .iter()
        .map(|param| match param.passing {
            Passing::Each | Passing::Fuel => format!("{}[member].clone()", column(param)),
            Passing::State => format!("&mut s_{}", param.name),
            Passing::EachSlice | Passing::EachRef => format!("&{}[member]", column(param)),
            Passing::SharedValue => column(param),
            Passing::SharedRef => format!("&{}", column(param)),
        })
        .collect();
    let _ = writeln!(to, "                let result = {path}{name}({});", args.join(", "));
    to.push_str("                let mut words = Vec::new();\n");
    for state in &states {
        let _ = writeln!(to, "                s_{}.words(&mut words);", state.name);
    }
    to.push_str("                (result, words)\n            }, |options| {\n");
    // The batched call.
    for state in &states {
        let _ = writeln!(to, "                let mut s_{} = {}.clone();", state.name, column(state));
    }
    let args: Vec<String> = function
        .params
        .iter()
        .map(|param| match param.passing {
            Passing::State => format!("&mut s_{}, ", param.name),
            Passing::SharedValue => format!("{}, ", column(param)),
            _ => format!("&{}, ", column(param)),
        })
        .collect();
    if batched {
        let _ = writeln!(
            to,
            "                let outcome = {path}{name}_batched_with({}options)?;",
            args.concat()
        );
    } else {
        to.push_str("                let outcome = unreachable!();\n");
    }
    to.push_str("                let states = (0..members).map(|member| {\n                    let mut words = Vec::new();\n");
    for state in &states {
        let _ = writeln!(to, "                    s_{}[member].words(&mut words);", state.name);
    }
    to.push_str("                    words\n                }).collect();\n");
    to.push_str("                Ok((outcome, states))\n            }, |member| {\n                let mut text = String::new();\n");
    for param in &function.params {
        let (name, column) = (&param.name, column(param));
        let index = match param.passing {
            Passing::SharedValue | Passing::SharedRef => "",
            _ => "[member]",
        };
        let _ =
            writeln!(to, "                text.push_str(&format!(\"{name} = {{:?}} \", {column}{index}));");
    }
    to.push_str("                text\n            });\n            }\n        }\n");
}
