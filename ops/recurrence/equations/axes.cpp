#include "lagtape/ops/recurrence/equations/axes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"

namespace lagtape {
namespace {

Shape axes_of(StepVar a) { return a.shape().axes(); }
Shape axes_of(const Var& a) { return a.shape(); }
StepVar viewed(StepVar a, const Shape& axes, std::int64_t first, const Shape& strides) {
  return a.tape().view(a, axes, first, strides);
}
Var viewed(const Var& a, const Shape& axes, std::int64_t first, const Shape& strides) {
  return as_strided(a, axes, first, strides);
}
StepVar sum_of_last(StepVar a) { return a.tape().sum(a); }
Var sum_of_last(const Var& a) { return sum(a, -1); }
/// a [g] for each element of b [n]: [g, n], or the form that a product broadcasts to it.
StepVar repeated_along(StepVar a, StepVar b) {
  return a.tape().broadcast(a, RowShape::grouped(a.shape().size, b.shape().size));
}
Var repeated_along(const Var& a, const Var&) { return reshape(a, {a.shape()[0], 1}); }
StepVar sliced(StepVar a, std::int64_t begin, std::int64_t end) { return a.tape().slice(a, begin, end); }
Var sliced(const Var& a, std::int64_t begin, std::int64_t end) { return slice(a, 0, begin, end); }

/// How many elements apart consecutive entries along each axis of a dense array are.
Shape dense(const Shape& axes) {
  Shape strides(axes.size(), 1);
  for (std::size_t i = axes.size(); i-- > 1;) strides[i - 1] = strides[i] * axes[i];
  return strides;
}

template <class T>
std::size_t checked(std::string_view function, T a, std::int64_t axis) {
  const std::int64_t rank = std::ssize(axes_of(a));
  if (axis < -rank || axis >= rank)
    throw InputError(
        {.op = std::string(function)}, Rule::out_of_range,
        rank == 0 ? "a scalar has no axes"
                  : text_of("an axis of ", to_string(axes_of(a)), " is from ", -rank, " to ", rank - 1),
        text_of(axis));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

/// The array with an axis moved to the end, or moved back from the end.
template <class T>
T with_last(T a, std::size_t axis) {
  Shape order(static_cast<std::size_t>(std::ssize(axes_of(a))));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  return transposed(a, order);
}
template <class T>
T with_last_at(T a, std::size_t axis) {
  Shape order(static_cast<std::size_t>(std::ssize(axes_of(a))));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + axis, order.end() - 1, order.end());
  return transposed(a, order);
}

/// The same elements with one-element axes added or removed.
template <class T>
T with_axes(T a, const Shape& axes) {
  return viewed(a, axes, 0, dense(axes));
}

/// The array with a new one-element axis at the end.
template <class T>
T with_column(T a) {
  Shape axes = axes_of(a);
  axes.push_back(1);
  return with_axes(a, axes);
}

/// The array without its last axis, which has one element.
template <class T>
T without_column(T a) {
  Shape axes = axes_of(a);
  axes.pop_back();
  return with_axes(a, axes);
}

template <class T>
T extreme_of_last(ElementOp op, T a) {
  for (std::int64_t n = axes_of(a).back(); n > 1; n = axes_of(a).back()) {
    const std::int64_t half = (n + 1) / 2;  // the halves overlap if n is odd
    a = elementwise(op, part_of(a, {-1, 0, half, 1}), part_of(a, {-1, n - half, half, 1}));
  }
  return without_column(a);
}

[[noreturn]] void refuse_product(StepVar a, StepVar b) {
  throw InputError({.op = "@"}, Rule::shape,
                   "the last axis on the left and the axis before the last on the right must agree",
                   text_of(to_string(a.shape()), " and ", to_string(b.shape())));
}

}  // namespace

template <class T>
T transposed(T a, std::span<const std::int64_t> order) {
  if (std::ranges::is_sorted(order)) return a;
  const Shape axes = axes_of(a), strides = dense(axes);
  Shape to, by;
  for (const std::int64_t axis : order) {
    to.push_back(axes.at(static_cast<std::size_t>(axis)));
    by.push_back(strides.at(static_cast<std::size_t>(axis)));
  }
  return viewed(a, to, 0, by);
}

template <class T>
T reordered(T a, std::vector<std::int64_t> order) {
  const std::int64_t rank = std::ssize(axes_of(a));
  for (std::int64_t& axis : order) axis += axis < 0 ? rank : 0;
  std::vector<std::int64_t> sorted = order, all(static_cast<std::size_t>(rank));
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    throw InputError(
        {.op = "transpose"}, Rule::out_of_range,
        text_of("an order has each axis of ", to_string(axes_of(a)), " once, as in transpose(a, 0, 2, 1)"));
  return transposed(a, order);
}

template <class T>
T transposed(T a) {
  if (std::ssize(axes_of(a)) < 2) return a;
  Shape order(static_cast<std::size_t>(std::ssize(axes_of(a))));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transposed(a, order);
}

template <class T>
T part_of(T a, const AxisPart& part) {
  const std::size_t axis = checked("[ ]", a, part.axis);
  Shape axes = axes_of(a), strides = dense(axes);
  if (part.begin == 0 && part.step == 1 && part.count == axes[axis]) return a;
  if (std::ssize(axes_of(a)) == 1 && part.step == 1) return sliced(a, part.begin, part.begin + part.count);
  const std::int64_t first = part.begin * strides[axis];
  axes[axis] = part.count;
  strides[axis] *= part.step;
  return viewed(a, axes, first, strides);
}

StepVar sum(StepVar a, std::int64_t axis) { return a.tape().sum(with_last(a, checked("sum", a, axis))); }

StepVar mean(StepVar a, std::int64_t axis) {
  const double n = static_cast<double>(a.shape().axes()[checked("mean", a, axis)]);
  return sum(a, axis) * (1 / n);
}

template <class T>
T extreme(ElementOp op, T a, std::int64_t axis) {
  return extreme_of_last(op, with_last(a, checked(function_of(op).name, a, axis)));
}

template <class T>
T softmax(T a, std::int64_t axis) {
  const std::size_t at = checked("softmax", a, axis);
  const T last = with_last(a, at), e = exp(last - with_column(extreme_of_last(ElementOp::maximum, last)));
  return with_last_at(e / with_column(sum_of_last(e)), at);
}

template <class T>
T logsumexp(T a, std::int64_t axis) {
  const T last = with_last(a, checked("logsumexp", a, axis)),
          most = extreme_of_last(ElementOp::maximum, last);
  return most + log(sum_of_last(exp(last - with_column(most))));
}

template <class T>
T cumsum(T a, std::int64_t axis) {
  const std::size_t at = checked("cumsum", a, axis);
  const std::int64_t n = axes_of(a)[at];
  for (std::int64_t k = 1; k < n; k *= 2) {  // each pass doubles the number of elements summed
    const auto from = static_cast<std::int64_t>(at);
    const T head = part_of(a, {from, 0, k, 1}),
            tail = part_of(a, {from, k, n - k, 1}) + part_of(a, {from, 0, n - k, 1});
    a = joined(head, tail, from);
  }
  return a;
}

template <class T>
T roll(T a, std::int64_t shift, std::int64_t axis) {
  const auto at = static_cast<std::int64_t>(checked("roll", a, axis));
  const std::int64_t n = axes_of(a)[static_cast<std::size_t>(at)], by = (shift % n + n) % n;
  if (by == 0) return a;
  return joined(part_of(a, {at, n - by, by, 1}), part_of(a, {at, 0, n - by, 1}), at);
}

StepVar joined(StepVar a, StepVar b, std::int64_t axis) {
  if (a.shape().rank <= 1 && b.shape().rank <= 1) {
    if (axis != 0 && axis != -1)
      throw InputError(
          {.op = "concat"}, Rule::out_of_range,
          "vectors have the axis 0; a number after two parts is the axis, and as a part it is written [1]",
          text_of(axis));
    return a.tape().concatenate(a, b);
  }
  const std::size_t at = checked("concat", a, axis);
  Shape axes = a.shape().axes(), others = b.shape().axes();
  if (others.size() == axes.size()) {
    const std::int64_t both = axes[at] + others[at];
    others[at] = axes[at];
    if (others == axes) {
      // With the axis in front, one array's elements follow the other's.
      const auto flat = [&](StepVar v) {
        Shape order(axes.size());
        std::iota(order.begin(), order.end(), 0);
        std::rotate(order.begin(), order.begin() + at, order.begin() + at + 1);
        return v.tape().reshape(transposed(v, order), RowShape::vector(v.shape().width()));
      };
      const StepVar all = a.tape().concatenate(flat(a), flat(b));
      axes[at] = both;
      Shape front = axes, back(axes.size());
      std::rotate(front.begin(), front.begin() + at, front.begin() + at + 1);
      std::iota(back.begin(), back.end(), 0);
      std::rotate(back.begin(), back.begin() + 1, back.begin() + at + 1);
      return transposed(a.tape().reshape(all, RowShape::of(front)), back);
    }
  }
  throw InputError({.op = "concat"}, Rule::shape,
                   "the parts must agree in all axes but the one that joins them",
                   text_of(to_string(a.shape()), " and ", to_string(b.shape())));
}

Var joined(const Var& a, const Var& b, std::int64_t axis) {
  const auto part = [](const Var& v) { return v.shape().empty() ? reshape(v, {1}) : v; };
  const Var parts[] = {part(a), part(b)};
  return concatenate(parts, axis);
}

StepVar matmul(StepVar a, StepVar b) {
  const Shape left = a.shape().axes(), right = b.shape().axes();
  if (left.empty() || right.empty()) refuse_product(a, b);
  if (left.back() != right[right.size() < 2 ? 0 : right.size() - 2]) refuse_product(a, b);
  StepTape& tape = a.tape();
  if (right.size() == 1) return tape.sum(a * b);
  const StepVar columns = transposed(b);  // [..., n, k]
  if (left.size() == 1) return tape.sum(columns * a);
  Shape rows = left;
  rows.insert(rows.end() - 1, 1);  // [..., m, 1, k]
  Shape lines = columns.shape().axes();
  lines.insert(lines.end() - 2, 1);  // [..., 1, n, k]
  return tape.sum(with_axes(a, rows) * with_axes(columns, lines));
}

StepVar matmul(const StepMatrix& w, StepVar b) {
  if (b.shape().rank < 2) return product(w, b);
  const Shape axes = b.shape().axes();
  if (axes[axes.size() - 2] != w.shape[1])
    throw InputError({.op = "@"}, Rule::shape,
                     "the last axis on the left and the axis before the last on the right must agree",
                     text_of(to_string(w.shape), " and ", to_string(b.shape())));
  return transposed(product(w, transposed(b)));
}

template <class T>
T outer(T a, T b) {
  if (axes_of(a).size() != 1 || axes_of(b).size() != 1)
    throw InputError({.op = "outer"}, Rule::shape, "the product of all pairs is one of two vectors",
                     text_of(to_string(axes_of(a)), " and ", to_string(axes_of(b))));
  return repeated_along(a, b) * b;
}

namespace {

/// The products of the groups `first` .. `first + count - 1` of v [groups * in], in order.
StepVar products_of(std::span<const StepMatrix> matrices, StepVar v, std::int64_t first, std::int64_t count) {
  if (count > 1) {
    const StepVar left = products_of(matrices, v, first, count / 2);
    return v.tape().concatenate(left, products_of(matrices, v, first + count / 2, count - count / 2));
  }
  const StepMatrix& matrix = matrices[static_cast<std::size_t>(first)];
  const std::int64_t in = matrix.shape[1];
  return product(matrix, v.tape().slice(v, first * in, (first + 1) * in));
}

}  // namespace

StepVar product_of_groups(std::span<const StepMatrix> matrices, StepVar v) {
  const auto groups = static_cast<std::int64_t>(matrices.size());
  const std::int64_t out = matrices.front().shape[0], in = matrices.front().shape[1];
  if (v.shape() != RowShape::grouped(groups, in))
    throw InputError({.op = "@"}, Rule::shape,
                     text_of("a matrix for each group, [", groups, ", ", out, ", ", in, "], multiplies [",
                             groups, ", ", in, "]"),
                     to_string(v.shape()));
  StepTape& tape = v.tape();
  const StepVar flat = tape.reshape(v, RowShape::vector(groups * in));
  return tape.reshape(products_of(matrices, flat, 0, groups), RowShape::grouped(groups, out));
}

template <class T>
T einsum(std::string_view letters, std::span<const T> operands) {
  const auto refuse = [&](const std::string& rule) {
    throw InputError({.op = "einsum"}, Rule::shape, rule, std::string(letters));
  };
  std::string text(letters);
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos) refuse("the letters of the result must be given, as in \"ij,j->i\"");
  const std::string result = text.substr(arrow + 2);
  std::vector<std::string> axes(1);
  for (const char c : text.substr(0, arrow))
    if (c == ',')
      axes.emplace_back();
    else
      axes.back() += c;
  if (axes.size() != operands.size()) refuse("there must be letters for each operand");
  std::string all = result;
  std::map<char, std::int64_t> extents;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    const Shape shape = axes_of(operands[o]);
    if (shape.size() != axes[o].size())
      refuse(text_of("an operand ", to_string(shape), " has as many letters as axes, not '", axes[o], "'"));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (extents.try_emplace(axes[o][i], shape[i]).first->second != shape[i])
        refuse(text_of("the axes '", axes[o][i], "' must agree: ", extents[axes[o][i]], " and ", shape[i]));
      if (all.find(axes[o][i]) == std::string::npos) all += axes[o][i];
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!extents.contains(result[i]) || result.find(result[i], i + 1) != std::string::npos)
      refuse(text_of("the letter '", result[i], "' of the result must be one of an operand, once"));
  if (all.size() > RowShape::kLargestRank)
    refuse(text_of("there are at most ", RowShape::kLargestRank, " letters"));

  Shape to;
  for (const char c : all) to.push_back(extents[c]);
  T product;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    const Shape strides = dense(axes_of(operands[o]));
    Shape by;
    for (const char c : all) {
      by.push_back(0);
      for (std::size_t i = 0; i < axes[o].size(); ++i)
        if (axes[o][i] == c) by.back() += strides[i];
    }
    const T operand =
        axes_of(operands[o]) == to && by == strides ? operands[o] : viewed(operands[o], to, 0, by);
    product = o == 0 ? operand : product * operand;
  }
  for (std::size_t i = result.size(); i < all.size(); ++i) product = sum_of_last(product);
  return product;
}

template StepVar transposed(StepVar, std::span<const std::int64_t>);
template StepVar transposed(StepVar);
template StepVar reordered(StepVar, std::vector<std::int64_t>);
template Var reordered(Var, std::vector<std::int64_t>);
template StepVar part_of(StepVar, const AxisPart&);
template StepVar extreme(ElementOp, StepVar, std::int64_t);
template StepVar softmax(StepVar, std::int64_t);
template StepVar logsumexp(StepVar, std::int64_t);
template StepVar cumsum(StepVar, std::int64_t);
template StepVar roll(StepVar, std::int64_t, std::int64_t);
template StepVar outer(StepVar, StepVar);
template StepVar einsum(std::string_view, std::span<const StepVar>);

template Var transposed(Var, std::span<const std::int64_t>);
template Var transposed(Var);
template Var part_of(Var, const AxisPart&);
template Var extreme(ElementOp, Var, std::int64_t);
template Var softmax(Var, std::int64_t);
template Var logsumexp(Var, std::int64_t);
template Var cumsum(Var, std::int64_t);
template Var roll(Var, std::int64_t, std::int64_t);
template Var outer(Var, Var);
template Var einsum(std::string_view, std::span<const Var>);

}  // namespace lagtape
