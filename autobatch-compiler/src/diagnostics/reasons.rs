//! Why a place of the user's code runs scalar code for each member, and what to write instead.
//!
//! `program()` shows the first half; `strict` makes an error of both.

/// Why a place is no part of a block program, and how to write it so that it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reason {
    /// One sentence; behind the name of a variable, its second half.
    pub(crate) why: &'static str,
    /// Half a sentence that tells the user what to do.
    pub(crate) instead: &'static str,
}

impl Reason {
    /// One sentence on why, about what has a name.
    pub(crate) fn about(&self, name: Option<&str>) -> String {
        match name {
            Some(name) => format!("`{name}` {}", self.why),
            None => self.why.to_owned(),
        }
    }
}

const PLAIN_CALL: &str = "make it a plain call in the function's own body";
const NAME_THE_TYPE: &str = "name the type, `Self::method(receiver, …)`";
const BORROW_ANEW: &str = "borrow anew behind the loop or call, or keep an index";
const LET_WITH_TYPE: &str = "make it in a `let` with its type, if that has no lifetime";

// A call is made by code that the compiler does not see.

pub(crate) const IN_A_CLOSURE: Reason = Reason {
    why: "a call inside a closure is run by code that can't be batched",
    instead: "call it in a loop, or in the closure of an adaptor whose chain ends where it stands",
};
pub(crate) const IN_A_TOTAL: Reason = Reason {
    why: "a `sum` or `product` may stop early if its type is not one of the library's numbers: then the calls in it \
          are made one by one",
    instead: PLAIN_CALL,
};
pub(crate) const IN_A_MACRO: Reason = Reason {
    why: "a call inside a macro's tokens can't be seen by the compiler",
    instead: "make the call in a `let` before the macro",
};
pub(crate) const IN_AN_ITEM: Reason = Reason {
    why: "a function inside the body calls it, and is no part of the program",
    instead: "make the call where the function's body stands, or put both into one module with the attribute",
};
pub(crate) const AS_A_VALUE: Reason = Reason {
    why: "the function is used as a value, and whoever calls it runs the scalar code",
    instead: "call it by its name where its value is needed",
};

// A call stands where no block can end.

pub(crate) const IN_A_GUARD: Reason = Reason {
    why: "a match guard that calls a batched function",
    instead: "make the call in an `if` inside the arm, or in a `let` before the `match`",
};
pub(crate) const IN_AN_EXPRESSION: Reason = Reason {
    why: "a call inside this kind of expression can't be hoisted out of it",
    instead: "make the call in a `let` before",
};

// A macro leaves the function or a loop, or names its locals out of sight.

pub(crate) const MACRO_GIVEN_A_JUMP: Reason = Reason {
    why: "a `?`, `return`, `break` or `continue` in a macro's tokens would leave other code than the function",
    instead: "make the value in a `let` before the macro",
};
pub(crate) const MACRO_WITH_A_JUMP: Reason = Reason {
    why: "the macro holds a `return`, `?`, `break` or `continue`, which would leave other code than the function",
    instead: "write out what the macro does",
};
pub(crate) const MACRO_MAKES_NAMES: Reason =
    Reason { why: "the macro makes names for the code behind it", instead: "write out what the macro makes" };
pub(crate) const MACRO_OF_ANOTHER_FILE: Reason = Reason {
    why: "the definition of a macro stands in another file, and may hold a `return` or `break`",
    instead: "write out what the macro does, or call a function",
};
pub(crate) const MACRO_NAMES_LOCALS: Reason = Reason {
    why: "a macro that is defined in the body names locals of the function",
    instead: "give it the locals as arguments",
};

// A call is of a function that is no part of the program, or may be.

pub(crate) const UNKNOWN_RECEIVER: Reason = Reason {
    why: "the type of the receiver is not known to the macro; write `Type::method(receiver, …)`",
    instead: NAME_THE_TYPE,
};
pub(crate) const UNKNOWN_RECEIVER_IN_IMPL: Reason = Reason {
    why: "the type of the receiver is not known to the macro; write `Self::method(receiver, …)`",
    instead: NAME_THE_TYPE,
};
pub(crate) const FOR_OTHER_TYPES: Reason = Reason {
    why: "a generic function is batched for the types of its caller only",
    instead: "write this function for the type that it is called with",
};
pub(crate) const OF_OTHER_TYPES: Reason = Reason {
    why: "a generic function is batched only where it is the one that is called",
    instead: "write this function for the type that it is called with",
};
pub(crate) const SEVERAL: Reason = Reason {
    why: "several functions have this name, under conditions, and the macro can't know which is there",
    instead: "make it one function, with `if cfg!(…)` inside",
};
pub(crate) const OF_THE_LIBRARY: Reason = Reason {
    why: "a method of a trait of the library is batched only with the attribute on the `impl` block itself",
    instead: "call a function with the same code, and let the method call it too",
};
pub(crate) const SAME_NAME: Reason =
    Reason { why: "two methods of the type have this name", instead: "give one of the two another name" };
pub(crate) const OF_ANOTHER_TYPE: Reason = Reason {
    why: "methods in a module are batched for types of the crate only, by their names",
    instead: "call a function that takes the value as a parameter",
};

// A name means something else in generated code, or may.

pub(crate) const METHOD_OF_NUMBERS: Reason = Reason {
    why: "a trait's method has the name of a number's own, which is meant where the type is known",
    instead: "name the trait, `Trait::method(&x, &y)`",
};
pub(crate) const RESERVED: Reason = Reason {
    why: "names that begin with two underscores are those of generated code",
    instead: "give it another name",
};
pub(crate) const ITEM_OF_ANOTHER_BODY: Reason = Reason {
    why: "another body of the program has an item of the same name",
    instead: "give one of the two another name",
};
pub(crate) const ITEM_NAMED_OUTSIDE: Reason = Reason {
    why: "an item of a block has a name that code outside of the block uses, too",
    instead: "give it another name, or put it outside of the function",
};

pub(crate) const LINTED: Reason = Reason {
    why: "Clippy looks at the function, for which scalar code will do",
    instead: "build it, and it is batched",
};

// A local is in the way: columns move, so nothing may refer to their values across a loop or call.

pub(crate) const ADDRESS_TAKEN: Reason = Reason {
    why: "an `unsafe` block may rely on where a local is, and locals move",
    instead: "put the `unsafe` code in a function of its own",
};
/// Behind the name of the variable.
pub(crate) const BORROWS: Reason =
    Reason { why: "borrows a local and is used on both sides of a loop or call", instead: BORROW_ANEW };
pub(crate) const ARGUMENT_BORROWS: Reason = Reason {
    why: "what is given to a call borrows a local and is used on both sides of a loop or call",
    instead: BORROW_ANEW,
};
pub(crate) const OPERAND_BORROWS: Reason = Reason {
    why: "what is kept across a loop or call borrows a local of this function",
    instead: "make the value in a `let` before, or borrow anew behind",
};

// A batched call is handed a reference that may not outlive the activation.

pub(crate) const CALL_BORROWS: Reason = Reason {
    why: "a local of this function is lent to the call, and a column's values move",
    instead: "hand on a value, an index, or a reference that the function was given",
};
pub(crate) const CALL_MAY_BORROW: Reason = Reason {
    why: "what the call is handed may borrow from a local of this function, and a column's values move",
    instead: LET_WITH_TYPE,
};
pub(crate) const CALL_BORROWS_TEMPORARY: Reason = Reason {
    why: "what the call is handed may borrow from what is made in the middle of it",
    instead: "make it in a `let` before",
};

// A batched call is handed a `&mut` that is not the callee's alone, and the caller's again behind it.

pub(crate) const PART_OF_MUT: Reason = Reason {
    why: "a call is lent a part of what a `&mut` refers to, which the caller has no hold of meanwhile",
    instead: "take the part as a parameter of its own, or hand on the whole",
};
pub(crate) const MUT_WITH_LIFETIME: Reason = Reason {
    why: "a `&mut` is handed on as a parameter with a named lifetime, so the callee may keep it",
    instead: "leave the lifetime out",
};
pub(crate) const MUT_IN_RESULT: Reason = Reason {
    why: "a `&mut` is handed on to a call whose result may borrow from it",
    instead: "return an index or an owned value",
};
pub(crate) const MUT_TWICE: Reason = Reason {
    why: "a `&mut` is handed on, and mentioned in another argument",
    instead: "make the other argument in a `let` before",
};

// The arguments of a primitive can't be gathered for its kernel.

pub(crate) const KERNEL_CHANGES: Reason = Reason {
    why: "what the kernel changes has to be a local or a field of one: `&mut x`, `&mut x.field`",
    instead: "copy it to a local before the call, and back behind it",
};
pub(crate) const KERNEL_BORROWS: Reason = Reason {
    why: "what borrows from a local can't be gathered, but for the local itself and its fields",
    instead: "make the value in a `let` before, and pass `&x` or `&x.field`",
};

// A loop is no loop around vectors.

pub(crate) const LOOP_CALLS: Reason = Reason {
    why: "is called, of which the macro does not know that it only computes",
    instead: "put a function of numbers beside this one, or make the call before the loop",
};
pub(crate) const LOOP_CALLS_METHOD: Reason = Reason {
    why: "is no method of numbers that only computes",
    instead: "write out what it does, or call it before the loop",
};
pub(crate) const LOOP_INDEX: Reason = Reason {
    why: "an array is indexed by what each member computes",
    instead: "index it by the loop's counter, or go through up to eight elements and choose",
};
pub(crate) const LOOP_LIST: Reason = Reason {
    why: "what is indexed is no array of this function, and nothing that all members share",
    instead: "copy it to an array of known length before the loop",
};
pub(crate) const LOOP_ITEMS: Reason = Reason {
    why: "it goes through something else than a range or a list that all members share",
    instead: "count through a range, and index",
};
pub(crate) const LOOP_PATTERN: Reason = Reason {
    why: "a pattern takes a value apart",
    instead: "name the whole value, and its parts behind that",
};
pub(crate) const LOOP_FIELD: Reason = Reason {
    why: "a member's own value is used in parts",
    instead: "keep the parts in variables of their own",
};
pub(crate) const LOOP_ARRAY: Reason =
    Reason { why: "an array is used as a whole", instead: "use its elements, one by one" };
pub(crate) const LOOP_REFERENCE: Reason =
    Reason { why: "a reference is made or followed", instead: "use the value in its place" };
pub(crate) const LOOP_INNER: Reason = Reason {
    why: "a loop is inside that members leave at different times, or that has a label",
    instead: "let it run equally often for all members",
};
pub(crate) const LOOP_LEAVES: Reason = Reason {
    why: "members leave it, or a part of it, in the middle",
    instead: "end the round with `if … { continue; }`, or decide by a variable",
};
pub(crate) const LOOP_CODE: Reason =
    Reason { why: "this is more than numbers need", instead: "use operators, `if`, and methods of numbers" };
pub(crate) const LOOP_IS_SMALL: Reason = Reason {
    why: "its rounds do too little for blocks of their own, so it is left to LLVM",
    instead: "do more in a round",
};
pub(crate) const LOOP_IS_BORROWED: Reason =
    Reason { why: "a value that may borrow from a local is used on both sides of it", instead: BORROW_ANEW };

pub(crate) const DIVISION: Reason = Reason {
    why: "a number is divided, and the type of an operand is not written in this file",
    instead: "give the variable a type",
};
pub(crate) const HUGE: Reason = Reason {
    why: "integers of 128 bits are computed lane by lane",
    instead: "use 64 bits where the values fit",
};
pub(crate) const LIBRARY_CALL: Reason = Reason {
    why: "is a library call for one lane after the other, if it is std's",
    instead: "write `#[autobatch(vector_math)]`, or call the function of `autobatch::math`",
};
