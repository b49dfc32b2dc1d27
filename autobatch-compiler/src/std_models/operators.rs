//! The traits of operators.

use syn::{BinOp, UnOp};

/// The trait of an operator between two operands, and its method; nothing for comparisons and what is built in.
pub(crate) fn binary(op: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match op {
        BinOp::Add(_) => ("Add", "add"),
        BinOp::Sub(_) => ("Sub", "sub"),
        BinOp::Mul(_) => ("Mul", "mul"),
        BinOp::Div(_) => ("Div", "div"),
        BinOp::Rem(_) => ("Rem", "rem"),
        BinOp::BitAnd(_) => ("BitAnd", "bitand"),
        BinOp::BitOr(_) => ("BitOr", "bitor"),
        BinOp::BitXor(_) => ("BitXor", "bitxor"),
        BinOp::Shl(_) => ("Shl", "shl"),
        BinOp::Shr(_) => ("Shr", "shr"),
        BinOp::AddAssign(_) => ("AddAssign", "add_assign"),
        BinOp::SubAssign(_) => ("SubAssign", "sub_assign"),
        BinOp::MulAssign(_) => ("MulAssign", "mul_assign"),
        BinOp::DivAssign(_) => ("DivAssign", "div_assign"),
        BinOp::RemAssign(_) => ("RemAssign", "rem_assign"),
        BinOp::BitAndAssign(_) => ("BitAndAssign", "bitand_assign"),
        BinOp::BitOrAssign(_) => ("BitOrAssign", "bitor_assign"),
        BinOp::BitXorAssign(_) => ("BitXorAssign", "bitxor_assign"),
        BinOp::ShlAssign(_) => ("ShlAssign", "shl_assign"),
        BinOp::ShrAssign(_) => ("ShrAssign", "shr_assign"),
        _ => return None,
    })
}

/// The same for an operator before its operand.
pub(crate) fn unary(op: &UnOp) -> Option<(&'static str, &'static str)> {
    match op {
        UnOp::Neg(_) => Some(("Neg", "neg")),
        UnOp::Not(_) => Some(("Not", "not")),
        _ => None,
    }
}

/// Whether std has a trait of that name for operators.
pub(crate) fn is_trait(name: &str) -> bool {
    const BINARY: [&str; 10] = ["Add", "Sub", "Mul", "Div", "Rem", "BitAnd", "BitOr", "BitXor", "Shl", "Shr"];
    matches!(name, "Neg" | "Not") || BINARY.contains(&name.strip_suffix("Assign").unwrap_or(name))
}
