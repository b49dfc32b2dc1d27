//! What errors say, in the order of the stages that find them. A message with a name of the user's is a function.

use std::borrow::Cow;
use std::fmt::{self, Display};

use crate::diagnostics::reasons::Reason;

/// What an error says: sentences without a final stop.
#[derive(Clone)]
pub struct Message {
    /// One sentence on why.
    why: Cow<'static, str>,
    /// One on what to write instead.
    instead: Cow<'static, str>,
}

impl Message {
    const fn new(why: &'static str, instead: &'static str) -> Self {
        Self { why: Cow::Borrowed(why), instead: Cow::Borrowed(instead) }
    }

    fn formatted(why: String, instead: impl Into<Cow<'static, str>>) -> Self {
        Self { why: why.into(), instead: instead.into() }
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.why, self.instead)
    }
}

const REMOVE_ONE: &str = "remove one of them";

// The arguments of `#[autobatch(…)]`.

const ARGUMENTS: &str = "the arguments are `name = \"…\"`, `crate = path`, `strict`, `vector_math`, `primitives(…)`, \
                         `fuse = false`, `executor = Masked`, `schedule = MostLanes`, `lanes = 64`, `max_depth = 1000`";

pub(crate) fn not_a_list(error: &impl Display) -> Message {
    Message::formatted(format!("the arguments are a list: {error}"), ARGUMENTS)
}
pub(crate) fn unknown_argument(key: &impl Display) -> Message {
    Message::formatted(format!("`autobatch` has no argument `{key}`"), ARGUMENTS)
}
pub(crate) fn argument_with_a_list(key: &impl Display) -> Message {
    Message::formatted(format!("`{key}` takes no list"), ARGUMENTS)
}
pub(crate) fn argument_without_a_value(key: &impl Display) -> Message {
    Message::formatted(format!("`{key}` needs a value"), ARGUMENTS)
}
pub(crate) fn argument_twice(key: &str) -> Message {
    Message::formatted(format!("the argument `{key}` is given twice"), REMOVE_ONE)
}
pub(crate) fn unknown_value(key: &str, value: &impl Display, known: &[&str]) -> Message {
    Message::formatted(
        format!("`{key}` has no value `{value}`"),
        format!("write one of `{}`", known.join("`, `")),
    )
}
pub(crate) fn not_positive(key: &str) -> Message {
    Message::formatted(format!("`{key}` needs a positive integer"), format!("write for example `{key} = 64`"))
}
pub(crate) const PRIMITIVES_WITHOUT_PATHS: Message = Message::new(
    "`primitives` needs a list of paths",
    "name functions as the code calls them: `primitives(gradient, model::energy)`",
);
pub(crate) const STRICT_VALUE: Message = Message::new(
    "`strict` has one value, \"fibers\"",
    "write just `strict`, or `strict = \"fibers\"`, which accepts what runs on fibers",
);
pub(crate) const VECTOR_MATH_VALUE: Message =
    Message::new("`vector_math` is a flag and takes no value", "write just `vector_math`, or leave it out");
pub(crate) const NAME_VALUE: Message =
    Message::new("`name` needs a string that is an identifier", "write for example `name = \"all_of_them\"`");
pub(crate) const CRATE_VALUE: Message =
    Message::new("`crate` needs a path", "write for example `crate = my::autobatch`");
pub(crate) const FUSE_VALUE: Message = Message::new("`fuse` needs `true` or `false`", "write `fuse = false`");

// The item that the attribute stands on.

const WHERE_TO_PUT_IT: &str = "put it on a function, on an inline `mod name { … }`, or on an `impl` block";

pub(crate) fn unreadable(error: &impl Display) -> Message {
    Message::formatted(
        format!("`autobatch` can't read this: {error}"),
        "mend what rustc says of it; if it says nothing, the syntax is newer than this crate",
    )
}
pub(crate) const NO_BODY: Message = Message::new(
    "`autobatch` needs the function's body",
    "annotate a function that has one; a trait's method can call it",
);
pub(crate) const MODULE_ELSEWHERE: Message =
    Message::new("`autobatch` can't see into a module in another file", WHERE_TO_PUT_IT);
pub(crate) const OTHER_ITEM: Message =
    Message::new("`autobatch` has no meaning on this item", WHERE_TO_PUT_IT);
pub(crate) const METHOD_ALONE: Message = Message::new(
    "a method can't be batched by itself: its batched forms need the `impl` block around it",
    "put the attribute on the `impl` block of the type, or on a function that the method calls",
);
pub(crate) fn name_of_several(kind: &str) -> Message {
    Message::formatted(
        format!("`name` is for one function, and this {kind} may have several"),
        "leave it out: each batched form is called after its function",
    )
}
pub(crate) fn attribute_twice(item: &str) -> Message {
    Message::formatted(format!("{item} is batched already"), "remove one of the two attributes")
}
pub(crate) fn attribute_within(kind: &str) -> Message {
    Message::formatted(
        format!("the attribute of the {kind} batches this function already"),
        "remove this attribute, or that of the block",
    )
}

// An `impl` block of a trait.

pub(crate) const TYPE_OF_ANOTHER_CRATE: Message = Message::new(
    "batched methods stand in an `impl` block of the type itself, which only the crate that defines it can have",
    "move the code to a function and annotate that, or implement the trait for a type of your own",
);
pub(crate) const PARAMETER_OF_THE_TRAIT: Message = Message::new(
    "batched methods stand in an `impl` block of the type itself, which does not have this parameter",
    "put the code in a generic function and annotate that",
);
pub(crate) const DROP: Message = Message::new(
    "only the compiler may call `drop`, so it has no batched form",
    "put the attribute on a function that `drop` calls",
);
pub(crate) const TYPE_OF_ANOTHER_TRAIT: Message = Message::new(
    "this `impl` block does not define the type, so a batched form can't tell which trait's it is",
    "write the type itself, or its trait: `<Self as Trait>::Name`",
);
pub(crate) const HIDDEN_METHOD: Message = Message::new(
    "the type has a method of this name of its own, which is meant where it is called",
    "rename that method, and put the attribute on the `impl` block where the code stands",
);
pub(crate) fn batched_twice(method: &impl Display) -> Message {
    Message::formatted(
        format!("another `impl` block of the type has a `{method}_batched`, too"),
        "take the attribute off one of the blocks, or put the code in a function of its own and annotate that",
    )
}

// A function's signature.

pub(crate) const ASYNC: Message = Message::new(
    "an `async` function can't be batched: its members would wait on different futures",
    "batch the computation between the awaits, as a function that is not `async`",
);
pub(crate) const VARIADIC: Message =
    Message::new("a variadic function can't be batched", "pass a slice instead");
pub(crate) const FOREIGN_ABI: Message =
    Message::new("a function with a foreign ABI can't be batched", "annotate a Rust function that it calls");
pub(crate) const UNSAFE: Message = Message::new(
    "an `unsafe` function can't be batched: its batched form would be a safe function",
    "wrap the unsafe part in a safe function and annotate that",
);
pub(crate) const IMPL_TRAIT_RESULT: Message = Message::new(
    "an `impl Trait` result can't be stored per member: its type has no name",
    "return a concrete type",
);
pub(crate) const NEVER_RETURNS: Message =
    Message::new("a function that never returns has no result per member", "return a value");
pub(crate) const RECEIVER: Message =
    Message::new("this kind of receiver can't be batched", "take `self`, `&self` or `&mut self`");

// A parameter.

pub(crate) fn marked_twice(name: &str) -> Message {
    Message::formatted(format!("`#[{name}]` is given twice"), REMOVE_ONE)
}
pub(crate) fn mark_with_arguments(name: &str) -> Message {
    Message::formatted(format!("`#[{name}]` takes no arguments"), format!("write just `#[{name}]`"))
}
pub(crate) const SHARED_AND_EACH: Message =
    Message::new("a parameter is either `#[shared]` or `#[each]`", REMOVE_ONE);
pub(crate) const EACH_VALUE: Message =
    Message::new("`#[each]` is for references: a value is one per member already", "remove `#[each]`");
pub(crate) const SHARED_STATE: Message = Message::new(
    "a `&mut` parameter can't be shared by members that run at the same time",
    "share a `&` reference, or leave `#[shared]` out and give one state per member",
);
const UNSIZED_STATE: &str = "a `&mut` parameter is a state per member, and this type has no size";
pub(crate) const DYN_STATE: Message =
    Message::new(UNSIZED_STATE, "make it a generic parameter, `fn f<T: Trait>(x: &mut T)`");
pub(crate) const STR_STATE: Message = Message::new(UNSIZED_STATE, "take a `&mut String`");
pub(crate) const EACH_DYN: Message = Message::new(
    "an `#[each]` parameter is an element of a slice, and this type has no size",
    "take a `&Box<dyn Trait>`, or make it a generic parameter, `fn f<T: Trait>(#[each] x: &T)`",
);

// The members of a batch, and its entries.

const ALL_SHARED: &str = "every parameter is shared, so there is nothing to batch over";
const TAKE_ONE: &str = "take at least one parameter by value, by `&mut`, or mark one `#[each]`";

pub(crate) const NO_MEMBERS: Message = Message::new(ALL_SHARED, TAKE_ONE);
pub(crate) fn no_members_in(kind: &str) -> Message {
    Message::formatted(
        format!(
            "every parameter of this {kind}'s visible functions is shared, so there is nothing to batch over"
        ),
        TAKE_ONE,
    )
}
pub(crate) fn no_entry(kind: &str) -> Message {
    Message::formatted(
        format!("no function of this {kind} is visible outside, so none gets a batched form"),
        "make those `pub`, or `pub(super)`, that are to be called",
    )
}

// `strict`.

/// `why` is the reason's, with its name; `fibers` where it may be run on fibers, but no primitive is seen.
pub(crate) fn scalar_code(why: &str, reason: Reason, fibers: bool) -> Message {
    let reached = if fibers { "name the primitive that it reaches, `primitives(path)`, or " } else { "" };
    Message::formatted(
        format!("`strict`: this runs the scalar code for each member: {why}"),
        format!("{}, or {reached}leave `strict` out", reason.instead),
    )
}

// A primitive.

const WRITE_PRIMITIVE: &str = "write `#[autobatch::primitive(batched = path::to::kernel)]`";

pub(crate) const NOT_A_KERNEL: Message =
    Message::new("`primitive` takes the path of its batched kernel", WRITE_PRIMITIVE);
pub(crate) const NO_KERNEL: Message =
    Message::new("`primitive` needs the path of its batched kernel", WRITE_PRIMITIVE);
pub(crate) const NOT_A_PATH: Message = Message::new("this is not a path", WRITE_PRIMITIVE);
pub(crate) fn unknown_argument_of_primitive(key: &impl Display) -> Message {
    Message::formatted(
        format!("`primitive` has no argument `{key}`"),
        "the arguments are `batched = path` and `crate = path`",
    )
}
pub(crate) const PRIMITIVE_ITEM: Message =
    Message::new("a primitive is a function", "put it on a free function; a method can call it");
pub(crate) const PRIMITIVE_METHOD: Message = Message::new(
    "a method can't be a primitive: the attribute does not see its type",
    "make it a free function, `fn gradient(model: &Model, …)`, which the method can call",
);
pub(crate) const PRIMITIVE_IMPL_TRAIT: Message = Message::new(
    "an `impl Trait` parameter of a primitive has no name that its kernel could have",
    "make it a generic parameter, `fn f<T: Trait>(x: T)`",
);
pub(crate) const PRIMITIVE_WITHOUT_COLUMN: Message = Message::new(
    ALL_SHARED,
    "take a parameter by value, as `&Array1<T>` or `&[T; D]`, or mark a reference `#[each]`",
);
pub(crate) const PRIMITIVE_SHARED_STATE: Message =
    Message::new("what the kernel changes is each member's own", "remove `#[shared]`, or take a `&T`");
const SLICES: &str = "members' slices can't be gathered into one column: their lengths may differ";
pub(crate) const STATES_OF_SLICES: Message = Message::new(SLICES, "take `&mut Array1<T>` or `&mut [T; D]`");
pub(crate) const COLUMNS_OF_SLICES: Message =
    Message::new(SLICES, "take `&Array1<T>` or `&[T; D]`, or leave `#[each]` out to share the slice");
