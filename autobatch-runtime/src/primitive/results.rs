//! The forms in which a kernel can return results.

/// What a batched kernel may return for a function that returns `R`.
#[diagnostic::on_unimplemented(
    message = "the batched kernel can't return `{Self}` for a function that returns `{R}`",
    label = "returns `{Self}`",
    note = "for `T` it returns `Vec<T>` or `Array1<T>`, for `[T; D]` also `Array2<T>`, for `Array1<T>` `Array2<T>`, for a tuple the tuple of these"
)]
pub trait Rows<R> {
    /// One result per member.
    type Rows: Iterator<Item = R>;
    /// Whether that is one for each of `members`; else what was returned.
    ///
    /// # Errors
    ///
    /// Then.
    fn check(&self, members: usize) -> Result<(), String>;
    /// Takes the results apart.
    fn rows(self) -> Self::Rows;
}

fn length(what: &str, found: usize, members: usize) -> Result<(), String> {
    if found == members { Ok(()) } else { Err(format!("{what} of length {found}")) }
}

impl<T> Rows<T> for Vec<T> {
    type Rows = std::vec::IntoIter<T>;
    fn check(&self, members: usize) -> Result<(), String> {
        length("a vector", self.len(), members)
    }
    fn rows(self) -> Self::Rows {
        self.into_iter()
    }
}

/// Of a function that only changes its arguments.
impl Rows<()> for () {
    type Rows = std::iter::Repeat<()>;
    fn check(&self, _: usize) -> Result<(), String> {
        Ok(())
    }
    fn rows(self) -> Self::Rows {
        std::iter::repeat(())
    }
}

/// Rows of a tuple.
pub struct Zip<I>(I);

macro_rules! tuples {
    ($($R:ident $K:ident $at:tt),*) => {
        impl<$($R, $K: Rows<$R>),*> Rows<($($R,)*)> for ($($K,)*) {
            type Rows = Zip<($($K::Rows,)*)>;
            fn check(&self, members: usize) -> Result<(), String> {
                $(self.$at.check(members)?;)*
                Ok(())
            }
            fn rows(self) -> Self::Rows {
                Zip(($(self.$at.rows(),)*))
            }
        }
        impl<$($R: Iterator),*> Iterator for Zip<($($R,)*)> {
            type Item = ($($R::Item,)*);
            fn next(&mut self) -> Option<Self::Item> {
                Some(($((self.0).$at.next()?,)*))
            }
        }
    };
}
tuples!(A K 0);
tuples!(A K 0, B L 1);
tuples!(A K 0, B L 1, C M 2);
tuples!(A K 0, B L 1, C M 2, D N 3);
tuples!(A K 0, B L 1, C M 2, D N 3, E O 4);
tuples!(A K 0, B L 1, C M 2, D N 3, E O 4, F P 5);

#[cfg(feature = "ndarray")]
mod arrays {
    use super::{Rows, length};
    use ndarray::{Array1, Array2};

    impl<T> Rows<T> for Array1<T> {
        type Rows = <Array1<T> as IntoIterator>::IntoIter;
        fn check(&self, members: usize) -> Result<(), String> {
            length("an array", self.len(), members)
        }
        fn rows(self) -> Self::Rows {
            self.into_iter()
        }
    }

    /// Rows of a matrix.
    pub(super) struct Matrix<T> {
        matrix: Array2<T>,
        next: usize,
    }

    impl<T> Matrix<T> {
        fn next(&mut self) -> Option<ndarray::ArrayView1<'_, T>> {
            let row = self.next;
            self.next += 1;
            (row < self.matrix.nrows()).then(|| self.matrix.row(row))
        }
    }

    /// Rows as vectors.
    pub struct Vectors<T>(Matrix<T>);

    impl<T: Clone> Iterator for Vectors<T> {
        type Item = Array1<T>;
        fn next(&mut self) -> Option<Array1<T>> {
            self.0.next().map(|row| row.to_owned())
        }
    }

    impl<T: Clone> Rows<Array1<T>> for Array2<T> {
        type Rows = Vectors<T>;
        fn check(&self, members: usize) -> Result<(), String> {
            rows(self, members)
        }
        fn rows(self) -> Self::Rows {
            Vectors(Matrix { matrix: self, next: 0 })
        }
    }

    /// Rows as arrays.
    pub struct Arrays<T, const D: usize>(Matrix<T>);

    impl<T: Copy, const D: usize> Iterator for Arrays<T, D> {
        type Item = [T; D];
        #[inline]
        fn next(&mut self) -> Option<[T; D]> {
            let row = self.0.next()?;
            // The length has been checked.
            match row.as_slice().and_then(|row| row.try_into().ok()) {
                Some(row) => Some(row),
                None => Some(std::array::from_fn(|i| row[i])),
            }
        }
    }

    impl<T: Copy, const D: usize> Rows<[T; D]> for Array2<T> {
        type Rows = Arrays<T, D>;
        fn check(&self, members: usize) -> Result<(), String> {
            rows(self, members)?;
            let columns = self.ncols();
            if columns == D {
                Ok(())
            } else {
                Err(format!("a matrix of {columns} columns for results of length {D}"))
            }
        }
        fn rows(self) -> Self::Rows {
            Arrays(Matrix { matrix: self, next: 0 })
        }
    }

    fn rows<T>(matrix: &Array2<T>, members: usize) -> Result<(), String> {
        let rows = matrix.nrows();
        if rows == members { Ok(()) } else { Err(format!("a matrix of {rows} rows")) }
    }
}
