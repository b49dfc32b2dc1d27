//! The visitor of syn, compiled once.
//!
//! syn's functions are generic: each visitor would have some two hundred of its own, and each crate of a user would compile them all. Here
//! they run for one visitor, which passes on what it comes to.
//!
//! **Invariant:** what no visitor of the crate asks about, or begins with, is not in the list.

/// Visits a syntax tree. What is not overridden goes on into the node.
macro_rules! visitor {
    ($($visit:ident: $node:ident;)*) => {
        pub(crate) trait Visit<'a>: AsVisit<'a> {
            $(fn $visit(&mut self, node: &'a syn::$node) {
                $visit(self.as_visit(), node);
            })*
        }

        // If it were inlined into a visitor's own, LLVM would see through `dyn Visit`, and inline without end.
        $(#[inline(never)] pub(crate) fn $visit<'a>(visitor: &mut dyn Visit<'a>, node: &'a syn::$node) {
            syn::visit::$visit(&mut Forward(visitor), node);
        })*

        impl<'a> syn::visit::Visit<'a> for Forward<'_, 'a> {
            $(fn $visit(&mut self, node: &'a syn::$node) {
                self.0.$visit(node);
            })*
        }
    };
}

struct Forward<'v, 'a>(&'v mut dyn Visit<'a>);

pub(crate) trait AsVisit<'a> {
    fn as_visit(&mut self) -> &mut dyn Visit<'a>;
}

impl<'a, V: Visit<'a>> AsVisit<'a> for V {
    fn as_visit(&mut self) -> &mut dyn Visit<'a> {
        self
    }
}

visitor! {
    visit_arm: Arm;
    visit_block: Block;
    visit_expr: Expr;
    visit_expr_assign: ExprAssign;
    visit_expr_call: ExprCall;
    visit_expr_closure: ExprClosure;
    visit_expr_for_loop: ExprForLoop;
    visit_expr_let: ExprLet;
    visit_expr_match: ExprMatch;
    visit_expr_method_call: ExprMethodCall;
    visit_expr_path: ExprPath;
    visit_expr_reference: ExprReference;
    visit_file: File;
    visit_generic_argument: GenericArgument;
    visit_ident: Ident;
    visit_impl_item_fn: ImplItemFn;
    visit_item: Item;
    visit_item_enum: ItemEnum;
    visit_item_macro: ItemMacro;
    visit_item_mod: ItemMod;
    visit_item_struct: ItemStruct;
    visit_item_type: ItemType;
    visit_item_use: ItemUse;
    visit_lifetime: Lifetime;
    visit_local: Local;
    visit_macro: Macro;
    visit_pat: Pat;
    visit_pat_ident: PatIdent;
    visit_path: Path;
    visit_path_segment: PathSegment;
    visit_qself: QSelf;
    visit_signature: Signature;
    visit_stmt: Stmt;
    visit_stmt_macro: StmtMacro;
    visit_trait_item_fn: TraitItemFn;
    visit_type: Type;
    visit_type_fn_ptr: TypeFnPtr;
    visit_type_reference: TypeReference;
}
