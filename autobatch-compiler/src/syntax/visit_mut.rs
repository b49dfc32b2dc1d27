//! The visitor of syn that changes what it visits, compiled once, as [`super::visit`] is.
//!
//! **Invariant:** what no visitor of the crate asks about, or begins with, is not in the list.

use syn::{Attribute, Expr};

/// Visits a syntax tree to change it. What is not overridden goes on into the node.
macro_rules! visitor {
    ($($visit:ident: $node:ident;)*) => {
        pub(crate) trait VisitMut: AsVisitMut {
            $(fn $visit(&mut self, node: &mut syn::$node) {
                $visit(self.as_visit_mut(), node);
            })*
            fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
                attrs.iter_mut().for_each(|attr| self.visit_attribute_mut(attr));
            }
        }

        // If it were inlined into a visitor's own, LLVM would see through `dyn Visit`, and inline without end.
        $(#[inline(never)] pub(crate) fn $visit(visitor: &mut dyn VisitMut, node: &mut syn::$node) {
            syn::visit_mut::$visit(&mut Forward(visitor), node);
        })*

        impl syn::visit_mut::VisitMut for Forward<'_> {
            $(fn $visit(&mut self, node: &mut syn::$node) {
                self.0.$visit(node);
            })*
            fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
                self.0.visit_attributes_mut(attrs);
            }
        }
    };
}

/// Visits the indices of a place, and hands back what is indexed first: a variable, or a value.
pub(crate) fn visit_indices_mut<'e>(visitor: &mut dyn VisitMut, place: &'e mut Expr) -> &'e mut Expr {
    match place {
        Expr::Index(e) => {
            let base = visit_indices_mut(visitor, &mut e.expr);
            visitor.visit_expr_mut(&mut e.index);
            base
        }
        Expr::Field(e) => visit_indices_mut(visitor, &mut e.base),
        Expr::Paren(e) => visit_indices_mut(visitor, &mut e.expr),
        base => base,
    }
}

struct Forward<'v>(&'v mut dyn VisitMut);

pub(crate) trait AsVisitMut {
    fn as_visit_mut(&mut self) -> &mut dyn VisitMut;
}

impl<V: VisitMut> AsVisitMut for V {
    fn as_visit_mut(&mut self) -> &mut dyn VisitMut {
        self
    }
}

visitor! {
    visit_arm_mut: Arm;
    visit_attribute_mut: Attribute;
    visit_block_mut: Block;
    visit_expr_break_mut: ExprBreak;
    visit_expr_call_mut: ExprCall;
    visit_expr_closure_mut: ExprClosure;
    visit_expr_for_loop_mut: ExprForLoop;
    visit_expr_if_mut: ExprIf;
    visit_expr_match_mut: ExprMatch;
    visit_expr_method_call_mut: ExprMethodCall;
    visit_expr_mut: Expr;
    visit_expr_path_mut: ExprPath;
    visit_expr_return_mut: ExprReturn;
    visit_expr_while_mut: ExprWhile;
    visit_field_pat_mut: FieldPat;
    visit_field_value_mut: FieldValue;
    visit_file_mut: File;
    visit_generic_argument_mut: GenericArgument;
    visit_ident_mut: Ident;
    visit_impl_item_fn_mut: ImplItemFn;
    visit_item_impl_mut: ItemImpl;
    visit_item_mod_mut: ItemMod;
    visit_item_mut: Item;
    visit_lifetime_mut: Lifetime;
    visit_local_init_mut: LocalInit;
    visit_local_mut: Local;
    visit_macro_mut: Macro;
    visit_pat_ident_mut: PatIdent;
    visit_pat_mut: Pat;
    visit_pat_struct_mut: PatStruct;
    visit_path_mut: Path;
    visit_signature_mut: Signature;
    visit_stmt_mut: Stmt;
    visit_type_fn_ptr_mut: TypeFnPtr;
    visit_type_mut: Type;
    visit_type_path_mut: TypePath;
    visit_type_reference_mut: TypeReference;
}
