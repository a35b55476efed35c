//! Matrices. The only file that names faer, and only with one thread: sums then have one order on a machine.

use crate::error::ReduceError;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::sparse::linalg::solvers::{Llt, SymbolicLlt};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Accum, MatMut, MatRef, Par, Side};

/// A dense matrix, columns first.
///
/// ```
/// use sinew_reduce::Dense;
/// let a = Dense::from_fn(2, 2, |i, j| (10 * i + j) as f64);
/// assert_eq!((a.get(1, 0), a.column(1)), (10.0, &[1.0, 11.0][..]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

impl Dense {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// A matrix with its entries by row and column.
    pub fn from_fn(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect();
        Self { rows, columns, data }
    }

    /// Count of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Count of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One entry.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.data[column * self.rows + row]
    }

    /// One column.
    pub fn column(&self, column: usize) -> &[f64] {
        &self.data[column * self.rows..][..self.rows]
    }

    /// All entries, columns first.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// The transpose.
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |i, j| self.get(j, i))
    }

    /// A x.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows];
        for (j, &x) in x.iter().enumerate() {
            out.iter_mut().zip(self.column(j)).for_each(|(out, a)| *out += a * x);
        }
        out
    }

    /// Aᵀ x.
    pub fn apply_transposed(&self, x: &[f64]) -> Vec<f64> {
        (0..self.columns).map(|j| dot(self.column(j), x)).collect()
    }

    /// A B.
    pub fn times(&self, other: &Self) -> Self {
        product(self.view(), other.view())
    }

    /// Aᵀ B.
    pub fn transposed_times(&self, other: &Self) -> Self {
        product(self.view().transpose(), other.view())
    }

    /// A Bᵀ.
    pub fn times_transposed(&self, other: &Self) -> Self {
        product(self.view(), other.view().transpose())
    }

    /// A − B, in place.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.data.iter_mut().zip(&other.data).for_each(|(a, b)| *a -= b);
    }

    /// A + B, in place.
    pub(crate) fn accumulate(&mut self, other: &Self) {
        self.data.iter_mut().zip(&other.data).for_each(|(a, b)| *a += b);
    }

    pub(crate) fn set(&mut self, row: usize, column: usize, value: f64) {
        self.data[column * self.rows + row] = value;
    }

    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.data[column * self.rows + row] += value;
    }

    pub(crate) fn column_mut(&mut self, column: usize) -> &mut [f64] {
        &mut self.data[column * self.rows..][..self.rows]
    }

    /// A matrix from its entries, columns first; none when their count does not fit.
    pub(crate) fn from_data(rows: usize, columns: usize, data: Vec<f64>) -> Option<Self> {
        (rows.checked_mul(columns) == Some(data.len())).then_some(Self { rows, columns, data })
    }

    /// Columns of the list, in its order.
    pub(crate) fn pick_columns(&self, columns: impl ExactSizeIterator<Item = usize>) -> Self {
        let count = columns.len();
        let data = columns.flat_map(|j| self.column(j).iter().copied()).collect();
        Self { rows: self.rows, columns: count, data }
    }

    /// Rows of the list, in its order.
    pub(crate) fn pick_rows(&self, rows: &[usize]) -> Self {
        Self::from_fn(rows.len(), self.columns, |i, j| self.get(rows[i], j))
    }

    /// The columns of both, side by side.
    pub(crate) fn beside(mut self, other: &Self) -> Self {
        self.data.extend_from_slice(&other.data);
        self.columns += other.columns;
        self
    }

    /// ½(A + Aᵀ), in place.
    pub(crate) fn symmetrise(&mut self) {
        for j in 0..self.columns {
            for i in 0..j {
                let mean = 0.5 * (self.get(i, j) + self.get(j, i));
                self.set(i, j, mean);
                self.set(j, i, mean);
            }
        }
    }

    fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.data, self.rows, self.columns)
    }

    fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.data, self.rows, self.columns)
    }

    fn of(from: MatRef<'_, f64>) -> Self {
        Self::from_fn(from.nrows(), from.ncols(), |i, j| from[(i, j)])
    }

    /// The inverse of a symmetric positive definite matrix; none if it is not.
    pub(crate) fn inverse_of_positive(&self) -> Option<Self> {
        let mut inverse = Self::of(self.view().llt(Side::Lower).ok()?.inverse().as_ref());
        inverse.symmetrise();
        Some(inverse)
    }

    /// A⁻¹ B for a symmetric positive definite A; none if it is not.
    pub(crate) fn solve_positive(&self, right: &Self) -> Option<Self> {
        let mut out = right.clone();
        self.view().llt(Side::Lower).ok()?.solve_in_place(out.view_mut());
        Some(out)
    }

    /// A⁻¹ B by LU with row exchanges; not finite for a singular A.
    pub(crate) fn solve_general(&self, right: &Self) -> Self {
        let mut out = right.clone();
        self.view().partial_piv_lu().solve_in_place(out.view_mut());
        out
    }

    /// Eigenvalues in ascending order and eigenvectors of a symmetric matrix.
    pub(crate) fn eigen(&self, matrix: &'static str) -> Result<(Vec<f64>, Self), ReduceError> {
        if !self.data.iter().all(|a| a.is_finite()) {
            return Err(ReduceError::Eigen { matrix });
        }
        let pairs = self.view().self_adjoint_eigen(Side::Lower).map_err(|_| ReduceError::Eigen { matrix })?;
        let values = (0..self.rows).map(|i| pairs.S()[i]).collect();
        Ok((values, Self::of(pairs.U())))
    }

    /// Pairs of A w = λ B w in ascending order, with wᵀ B w = 1, for symmetric A and positive definite B.
    pub(crate) fn eigen_of_pair(&self, b: &Self, matrix: &'static str) -> Result<(Vec<f64>, Self), ReduceError> {
        let remedy = "check densities and node masses";
        let factor =
            b.view().llt(Side::Lower).map_err(|_| ReduceError::Singular { system: "the mass matrix", remedy })?;
        // L⁻¹ A L⁻ᵀ
        let mut half = self.clone();
        solve_lower_triangular_in_place(factor.L(), half.view_mut(), Par::Seq);
        let mut whole = half.transpose();
        solve_lower_triangular_in_place(factor.L(), whole.view_mut(), Par::Seq);
        whole.symmetrise();
        let (values, mut vectors) = whole.eigen(matrix)?;
        solve_upper_triangular_in_place(factor.L().transpose(), vectors.view_mut(), Par::Seq);
        Ok((values, vectors))
    }
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Dense {
    let mut out = Dense::zeros(a.nrows(), b.ncols());
    matmul(out.view_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// a·b.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A sparse matrix, rows first.
///
/// ```
/// use sinew_reduce::Sparse;
/// // entries of one place are added
/// let a = Sparse::from_entries(2, 2, vec![(0, 0, 1.0), (0, 0, 2.0), (1, 0, 5.0)]);
/// assert_eq!(a.apply(&[1.0, 1.0]), [3.0, 5.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    columns: usize,
    /// First entry of each row, and the count of all. (rows + 1)
    start: Vec<usize>,
    /// Column and value.
    entries: Vec<(usize, f64)>,
}

impl Sparse {
    /// From row, column and value; values of one place are added. Entries outside the matrix are left out.
    pub fn from_entries(rows: usize, columns: usize, mut entries: Vec<(usize, usize, f64)>) -> Self {
        entries.retain(|&(i, j, _)| i < rows && j < columns);
        // stable: the order of a sum is that of the list
        entries.sort_by_key(|&(i, j, _)| (i, j));
        let mut start = vec![0; rows + 1];
        let mut packed: Vec<(usize, f64)> = Vec::with_capacity(entries.len() / 4);
        let mut last = None;
        for (i, j, value) in entries {
            match packed.last_mut().filter(|_| last == Some((i, j))) {
                Some(entry) => entry.1 += value,
                None => {
                    packed.push((j, value));
                    start[i + 1] += 1;
                }
            }
            last = Some((i, j));
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        Self { columns, start, entries: packed }
    }

    /// Count of rows.
    pub fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// Columns and values of a row.
    pub fn row(&self, row: usize) -> &[(usize, f64)] {
        &self.entries[self.start[row]..self.start[row + 1]]
    }

    /// A x.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        (0..self.rows()).map(|i| self.row(i).iter().map(|&(j, a)| a * x[j]).sum()).collect()
    }

    /// A B.
    pub(crate) fn times(&self, b: &Dense) -> Dense {
        let mut out = Dense::zeros(self.rows(), b.columns());
        for j in 0..b.columns() {
            let image = self.apply(b.column(j));
            out.column_mut(j).copy_from_slice(&image);
        }
        out
    }

    /// Rows and columns of two lists, numbered by their places there.
    pub(crate) fn part(&self, rows: &[usize], columns: &[usize]) -> Self {
        let mut place = vec![usize::MAX; self.columns];
        columns.iter().enumerate().for_each(|(at, &j)| place[j] = at);
        let mut entries = Vec::new();
        for (at, &i) in rows.iter().enumerate() {
            entries.extend(self.row(i).iter().filter(|e| place[e.0] != usize::MAX).map(|e| (at, place[e.0], e.1)));
        }
        Self::from_entries(rows.len(), columns.len(), entries)
    }

    /// A + s B of two matrices of one size.
    pub(crate) fn plus(&self, s: f64, b: &Self) -> Self {
        let all = |m: &Self, s: f64| -> Vec<(usize, usize, f64)> {
            (0..m.rows()).flat_map(|i| m.row(i).iter().map(move |&(j, a)| (i, j, s * a))).collect()
        };
        let mut entries = all(self, 1.0);
        entries.extend(all(b, s));
        Self::from_entries(self.rows(), self.columns, entries)
    }

    /// As a dense matrix.
    pub(crate) fn dense(&self) -> Dense {
        let mut out = Dense::zeros(self.rows(), self.columns);
        for i in 0..self.rows() {
            self.row(i).iter().for_each(|&(j, a)| out.add(i, j, a));
        }
        out
    }
}

/// Cholesky factor of a sparse symmetric positive definite matrix.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    size: usize,
    /// None for a matrix without rows.
    llt: Option<Llt<usize, f64>>,
}

impl Factor {
    /// The factor; none when the matrix is not positive definite.
    pub fn new(a: &Sparse) -> Option<Self> {
        let size = a.rows();
        if size == 0 {
            return Some(Self { size, llt: None });
        }
        let lower: Vec<_> = (0..size)
            .flat_map(|i| a.row(i).iter().filter(move |e| e.0 <= i).map(move |e| Triplet::new(i, e.0, e.1)))
            .collect();
        let matrix = SparseColMat::try_new_from_triplets(size, size, &lower).ok()?;
        let symbolic = SymbolicLlt::try_new(matrix.symbolic(), Side::Lower).ok()?;
        let llt = Llt::try_new_with_symbolic(symbolic, matrix.as_ref(), Side::Lower).ok()?;
        Some(Self { size, llt: Some(llt) })
    }

    /// B := A⁻¹ B.
    pub fn solve(&self, b: &mut Dense) {
        debug_assert_eq!(self.size, b.rows());
        if let Some(llt) = &self.llt {
            llt.solve_in_place(b.view_mut());
        }
    }

    /// A⁻¹ b.
    pub fn solve_one(&self, b: &[f64]) -> Vec<f64> {
        let mut column = Dense { rows: b.len(), columns: 1, data: b.to_vec() };
        self.solve(&mut column);
        column.data
    }
}
