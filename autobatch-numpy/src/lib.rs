#![doc = include_str!("../README.md")]

mod item;
mod operand;
mod ufunc;

pub use item::Item;
pub use operand::Operand;
pub use ufunc::Ufunc;
