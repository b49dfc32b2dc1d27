//! What the user wrote, sorted out: the functions of the annotated item and their parameters.

use std::collections::BTreeSet;
use std::rc::Rc;

use proc_macro2::Ident;
use syn::{Attribute, Block, Generics, Pat, Path, Signature, Type, Visibility};

use crate::diagnostics::reasons::Reason;
use crate::index::declarations::Declared;
use crate::index::definitions::Definitions;
use crate::syntax::bindings::{self, Bindings};
use crate::syntax::call_sites::CallSite;
use crate::syntax::standard_macros;
use crate::syntax::walk::{self, At, Code};

/// How a parameter appears in the batched call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// A column: one value per member.
    Each,
    /// `#[each] x: &T`: a borrowed value per member.
    EachRef,
    /// The same reference, or `#[shared]` value, for all members.
    Shared,
    /// `&mut T`: state of the member, in and out.
    State,
    /// `x: &mut [T]`, or `#[each] x: &mut T`: borrowed per member, changed in place.
    EachMut,
}

/// A parameter.
#[derive(Clone)]
pub struct Param {
    /// The variable's unique name (`__self` for a receiver).
    pub ident: Ident,
    /// The name shown to users.
    pub shown: String,
    /// A destructuring pattern that is bound from `ident` at the start of the body.
    pub pattern: Option<Pat>,
    /// Its type; `&Self` and the like for receivers.
    pub ty: Type,
    /// How the batched call passes it.
    pub passing: Passing,
    /// Declared `mut`.
    pub mutable: bool,
}

impl Param {
    /// What it refers to, if it is a state.
    pub(crate) fn state(&self) -> Option<&Type> {
        match &self.ty {
            Type::Reference(r) if self.passing == Passing::State => Some(&r.elem),
            _ => None,
        }
    }
}

/// The annotated item.
#[derive(Clone, Default)]
pub struct Item {
    /// Its functions, in source order.
    pub functions: Vec<Function>,
    /// Its type, if it is an `impl` block.
    pub own: Option<Type>,
    /// Functions beside it that its functions may call.
    pub helpers: Rc<[Function]>,
    /// Those that are generic in types, constants, or functions that they are given.
    pub generic_helpers: Rc<[Function]>,
    /// Methods and operators of the types beside it.
    pub methods: Rc<[Function]>,
    /// Functions of it that are no part of the program.
    pub excluded: Rc<[Excluded]>,
    /// What it and its file declare.
    pub declared: Rc<Declared>,
}

impl Item {
    /// Changes each function and method beside it.
    pub(crate) fn change_helpers(&mut self, change: impl Fn(&mut Function)) {
        for helpers in [&mut self.helpers, &mut self.generic_helpers, &mut self.methods] {
            let mut all = helpers.to_vec();
            all.iter_mut().for_each(&change);
            *helpers = all.into();
        }
    }

    /// The name of its type.
    pub(crate) fn own_name(&self) -> Option<&Ident> {
        match self.own.as_ref()? {
            Type::Path(p) => p.path.segments.last().map(|s| &s.ident),
            _ => None,
        }
    }
}

/// A function to batch.
#[derive(Clone)]
pub struct Function {
    /// Attributes, doc comments included, without the crate's own.
    pub attrs: Vec<Attribute>,
    /// As written.
    pub vis: Visibility,
    /// As written, without parameter attributes of the crate; `impl Trait` in parameters has a name.
    pub sig: Signature,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The body as written, but for assignments to patterns.
    pub written: Block,
    /// The body with every binding renamed to be unique.
    pub body: Block,
    /// The bindings of parameters and body.
    pub bindings: Bindings,
    /// How many calls stand in tail position: these have the first numbers, in both bodies.
    pub tail_calls: usize,
    /// The return type, `()` where none is written.
    pub output: Type,
    /// Whether it is a method or associated function of an `impl` block.
    pub associated: bool,
    /// Whether it is one of a module, on which the attribute stands.
    pub of_module: bool,
    /// Generics of the `impl` block it stands in.
    pub outer: Generics,
    /// The trait that an `impl` block with the attribute implements.
    pub implements: Option<syn::Path>,
    /// The type of an `impl` block with the attribute.
    pub owner: Option<Type>,
    /// What it was, if it is a method of a type of a module.
    pub method: Option<OriginalMethod>,
}

impl Function {
    /// The states of its members: their places among the parameters, and what these refer to.
    pub(crate) fn states(&self) -> impl Iterator<Item = (usize, &Type)> {
        self.params.iter().enumerate().filter_map(|(nth, param)| Some((nth, param.state()?)))
    }

    /// The function that the user has written: a method, if it stands for one.
    pub(crate) fn shown(&self) -> &Function {
        self.method.as_ref().map_or(self, |method| &method.shown)
    }

    /// Whether a function's name means, anywhere in the body, what stands around the function: no variable and no item has the name, and
    /// there is nothing that may bring more names.
    pub(crate) fn sees(&self, name: &Ident) -> bool {
        let hides = |at: At<'_>| match at {
            At::Item(syn::Item::Fn(syn::ItemFn { sig: Signature { ident, .. }, .. })) => ident == name,
            At::Item(
                syn::Item::Const(syn::ItemConst { ident, .. })
                | syn::Item::Static(syn::ItemStatic { ident, .. }),
            ) => ident == name,
            At::Item(
                syn::Item::Struct(syn::ItemStruct { ident, .. })
                | syn::Item::Enum(syn::ItemEnum { ident, .. })
                | syn::Item::Trait(syn::ItemTrait { ident, .. })
                | syn::Item::Type(syn::ItemType { ident, .. }),
            ) => ident == name,
            At::Item(syn::Item::Impl(_)) => false,
            At::Item(_) => true,
            At::Macro(mac) => !standard_macros::is_standard(mac),
            _ => false,
        };
        !self.bindings.contains_key(&name.to_string()) && !walk::any(&self.written, hides)
    }

    /// Whether items in it, or parameters of types, may have names of types that stand beside it, or of traits. Constants and functions hide
    /// what has their names.
    pub(crate) fn may_hide_types(&self, definitions: &Definitions) -> bool {
        let mut generics = self.sig.generics.params.iter().chain(&self.outer.params);
        let is_type = |name: &Ident| definitions.knows(&syn::parse_quote!(#name));
        generics.any(|p| !matches!(p, syn::GenericParam::Lifetime(_)))
            || self.own_names().is_none_or(|own| own.iter().any(is_type))
    }

    /// Whether an item in it has a name that is mentioned in code beside it.
    pub(crate) fn hides(&self, code: &(impl Code + ?Sized)) -> bool {
        let own = self.own_names().unwrap_or_default();
        !own.is_empty() && walk::any(code, |at| matches!(at, At::PathSegment(s) if own.contains(&s.ident)))
    }

    /// The names of the constants and functions in it; none if there are other items.
    fn own_names(&self) -> Option<BTreeSet<Ident>> {
        let (mut own, mut others) = (BTreeSet::new(), false);
        walk::each(&self.written, |at| match at {
            At::Item(syn::Item::Const(i)) => own.extend([i.ident.clone()]),
            At::Item(syn::Item::Static(i)) => own.extend([i.ident.clone()]),
            At::Item(syn::Item::Fn(i)) => own.extend([i.sig.ident.clone()]),
            At::Item(_) => others = true,
            _ => {}
        });
        (!others).then_some(own)
    }

    /// Whether a call stands in tail position.
    pub(crate) fn is_tail(&self, site: CallSite) -> bool {
        site.0 < self.tail_calls
    }
}

/// Makes names unique again behind a rewriting of the body, which was unique before it.
pub(crate) fn rebind(function: &mut Function, mut body: Block) {
    let has_self = function.sig.receiver().is_some();
    let pattern = |p: &Param| p.pattern.clone().unwrap_or_else(|| if_ident(&p.ident, p.mutable));
    let mut params: Vec<Pat> = function.params.iter().map(pattern).collect();
    function.bindings = bindings::resolve(&mut params[usize::from(has_self)..], &mut body, has_self);
    for (param, pat) in function.params.iter_mut().zip(params) {
        if param.pattern.is_some() {
            param.pattern = Some(pat);
        }
    }
    function.body = body;
}

/// Binds the patterns of parameters at the start of the body.
pub(crate) fn bind_patterns(function: &mut Function) {
    if function.params.iter().all(|param| param.pattern.is_none()) {
        return;
    }
    let mut body = function.body.clone();
    let mut lets: Vec<syn::Stmt> = Vec::new();
    for Param { ident, ty, pattern, .. } in &mut function.params {
        match pattern.take() {
            Some(Pat::Wild(_)) | None => {}
            Some(pattern) => lets.push(syn::parse_quote!(let #pattern: #ty = #ident;)),
        }
    }
    body.stmts.splice(0..0, lets);
    rebind(function, body);
}

fn if_ident(ident: &Ident, mutable: bool) -> Pat {
    let mutability: Option<syn::Token![mut]> = mutable.then(Default::default);
    syn::parse_quote!(#mutability #ident)
}

/// What a function of the program was in the module.
#[derive(Clone)]
pub struct OriginalMethod {
    /// The method as written.
    pub shown: Box<Function>,
    /// Its type.
    pub owner: Type,
    /// The trait that it implements.
    pub trait_: Option<Path>,
    /// Attributes of the `impl` block.
    pub attrs: Vec<Attribute>,
    /// Whether the type names all parameters of the block.
    pub named: bool,
}

/// A function that is no part of the program, as calls show it.
#[derive(Clone, Debug)]
pub struct Excluded {
    /// The type whose method it is.
    pub(crate) owner: Option<String>,
    pub(crate) name: String,
    pub(crate) params: usize,
    /// Why it is no part of the program.
    pub(crate) reason: Reason,
}
