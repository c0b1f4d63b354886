#include "lagtape/ops/matmul.h"

#include <algorithm>
#include <vector>

#include "lagtape/ops/checks.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/kernels/kernels.h"

namespace lagtape {
namespace {

/// A matrix [rows, columns] as `pack` reads it, so that W and W^T are the same memory.
struct MatrixView {
  const Tensor& data;
  std::int64_t rows, columns, row_stride, column_stride;
};

MatrixView plain(const Tensor& m) { return {m, m.size(0), m.size(1), m.size(1), 1}; }
MatrixView transposed(const Tensor& m) { return {m, m.size(1), m.size(0), 1, m.size(1)}; }

/// y = a @ b; a and y are dense with rows of b.rows and b.columns elements.
template <class T>
void multiply_rows(Tensor& y, const Tensor& a, const MatrixView& b) {
  const Kernels<T>& kernel = kernels<T>(best_level());
  const std::int64_t columns = padded<T>(b.columns), rows = y.numel() / b.columns;
  Tensor packed({b.rows * columns}, y.dtype());
  T* const panels = packed.values<T>().data();
  kernel.pack(panels, b.data.values<T>().data(), b.rows, b.columns, b.row_stride, b.column_stride);

  // The kernel writes whole groups of columns; rows that end within one are trimmed afterward.
  Tensor wide = columns == b.columns ? y : Tensor({rows, columns}, y.dtype());
  T* const results = wide.values<T>().data();
  std::vector<T*> out;
  for (std::int64_t j = 0; j < columns; j += kLane<T>) out.push_back(results + j);
  const std::vector<std::int64_t> strides(out.size(), columns);
  const ProductOperand<T> operand{a.values<T>().data(), b.rows, b.rows};
  kernel.product({rows, &operand, 1, panels, columns, out.data(), strides.data()});

  if (columns == b.columns) return;
  T* const target = y.values<T>().data();
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(results + row * columns, b.columns, target + row * b.columns);
}

void multiply_rows(Tensor& y, const Tensor& a, const MatrixView& b) {
  if (y.numel() == 0 || b.rows == 0) return;  // no results, or sums over no terms
  with_scalar(y.dtype(), [&]<class T>() { multiply_rows<T>(y, a, b); });
}

/// dL/da of y = a @ b, given b^T.
Tensor data_gradient(const Tensor& d, const Tensor& a, const MatrixView& b_transposed) {
  Tensor gradient(a.shape(), a.dtype());
  multiply_rows(gradient, d, b_transposed);
  return gradient;
}

/// w [m, n] += left^T right for matrices left [.., m] and right [.., n] with the same number of rows.
void add_outer(Tensor& w, const Tensor& left, const Tensor& right) {
  if (w.numel() == 0 || left.numel() == 0) return;
  const std::int64_t m = w.size(0), n = w.size(1);
  with_scalar(w.dtype(), [&]<class T>() {
    const OuterProduct<T> product{
        w.values<T>().data(), n, {left.values<T>().data(), m}, right.values<T>().data(), n, m, n};
    kernels<T>(best_level()).add_outer_products(&product, 1, left.numel() / m);
  });
}

/// The change of a product due to changes of its operands.
Tangent tangent_of(Var (*product)(const Var&, const Var&)) {
  return [product](std::span<const Var> inputs, const Var&, std::span<const Var> changes) {
    const Var left = changes[0].is_of_tape() ? product(changes[0], inputs[1]) : Var();
    if (!changes[1].is_of_tape()) return left;
    const Var right = product(inputs[0], changes[1]);
    return left.is_of_tape() ? left + right : right;
  };
}

Shape with_last(Shape shape, std::int64_t extent) {
  shape.back() = extent;
  return shape;
}

}  // namespace

Var matmul(const Var& a, const Var& b) {
  Tape& tape = common_tape("matmul", {{"a", a}, {"b", b}});
  if (a.value().rank() < 1 || b.value().rank() != 2)
    refuse("matmul", "a must be [.., k] and b [k, m]", {{"a", a}, {"b", b}});
  if (a.value().size(-1) != b.value().size(0))
    refuse("matmul", "inner extents must agree", {{"a", a}, {"b", b}});
  Tensor y = tape.allocate(with_last(a.shape(), b.value().size(1)), a.dtype());
  multiply_rows(y, a.value(), plain(b.value()));
  return tape.record(
      y, {a, b},
      [a = a.value(), b = b.value()](const Tensor& d, InputGradients& inputs) {
        if (inputs.wanted(0)) inputs.add(0, data_gradient(d, a, transposed(b)));
        if (inputs.wanted(1)) add_outer(inputs.accumulator(1), a, d);
      },
      tangent_of(matmul));
}

Var linear(const Var& x, const Var& w) {
  Tape& tape = common_tape("linear", {{"x", x}, {"W", w}});
  if (x.value().rank() < 1 || w.value().rank() != 2)
    refuse("linear", "x must be [.., in] and W [out, in]", {{"x", x}, {"W", w}});
  if (x.value().size(-1) != w.value().size(1)) {
    const bool other_way = x.value().size(-1) == w.value().size(0);
    refuse("linear", "the last extents of x and W must agree", {{"x", x}, {"W", w}},
           other_way ? "W is [out, in]." : "");
  }
  Tensor y = tape.allocate(with_last(x.shape(), w.value().size(0)), x.dtype());
  multiply_rows(y, x.value(), transposed(w.value()));
  return tape.record(
      y, {x, w},
      [x = x.value(), w = w.value()](const Tensor& d, InputGradients& inputs) {
        if (inputs.wanted(0)) inputs.add(0, data_gradient(d, x, plain(w)));
        if (inputs.wanted(1)) add_outer(inputs.accumulator(1), d, x);
      },
      tangent_of(linear));
}

Var linear(const Var& x, const Var& w, const Var& bias) {
  common_tape("linear", {{"x", x}, {"W", w}, {"bias", bias}});
  if (w.value().rank() == 2 && bias.shape() != Shape{w.value().size(0)}) {
    refuse("linear", "the bias must be [out]", {{"W", w}, {"bias", bias}});
  }
  return linear(x, w) + bias;
}

}  // namespace lagtape
