#include "lagtape/ops/shape.h"

#include <optional>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/checks.h"
#include "lagtape/ops/strides.h"

namespace lagtape {
namespace {

/// Part of a dense array: the element at index i of `shape` is at base + sum of i[axis] * strides[axis].
struct View {
  Shape shape;
  Strides strides;
  std::int64_t base = 0;
};

/// Copies the view: dense = array[view].
void gather(Tensor& dense, const Tensor& array, const View& view) {
  with_scalar(array.dtype(), [&]<class T>() {
    const auto from = array.values<T>();
    auto to = dense.values<T>().begin();
    for_each_offset(view.shape, view.strides, view.base, [&](std::int64_t i) { *to++ = from[i]; });
  });
}

/// Calls combine(element of the view, element of dense) for all elements, in order.
template <class Combine>
void scatter(Tensor& array, const Tensor& dense, const View& view, Combine combine) {
  with_scalar(array.dtype(), [&]<class T>() {
    const auto to = array.values<T>();
    auto from = dense.values<T>().begin();
    for_each_offset(view.shape, view.strides, view.base, [&](std::int64_t i) { combine(to[i], *from++); });
  });
}

Var take(Tape& tape, const Var& x, const View& view) {
  Tensor y = tape.allocate(view.shape, x.dtype());
  gather(y, x.value(), view);
  return tape.record(
      y, {x},
      [view](const Tensor& d, InputGradients& inputs) {
        scatter(inputs.accumulator(0), d, view, [](auto& to, auto from) { to += from; });
      },
      [view](auto, const Var& result, auto changes) { return take(result.tape(), changes[0], view); });
}

View part(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t extent) {
  View view{x.shape(), dense_strides(x.shape())};
  view.shape[axis] = extent;
  view.base = begin * view.strides[axis];
  return view;
}

Tape& check_inputs(const char* op, std::span<const Var> inputs) {
  if (inputs.empty())
    throw InputError({.op = std::string(op)}, Rule::missing, "there must be an input", "none");
  const NamedInput first{"input 0", inputs[0]};
  for (std::size_t i = 1; i < inputs.size(); ++i) common_tape(op, {first, {text_of("input ", i), inputs[i]}});
  return common_tape(op, {first});
}

/// Throws unless the shape of every input matches that of the first, except for its extent along `free_axis`,
/// if any.
void check_extents(const char* op, std::span<const Var> inputs, std::optional<std::int64_t> free_axis,
                   const char* rule) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    Shape shape = inputs[i].shape();
    if (free_axis && shape.size() == inputs[0].shape().size())
      shape[*free_axis] = inputs[0].shape()[*free_axis];
    if (shape != inputs[0].shape())
      refuse(op, rule, {{"input 0", inputs[0]}, {text_of("input ", i), inputs[i]}});
  }
}

}  // namespace

Var reshape(const Var& x, const Shape& shape) {
  Tape& tape = common_tape("reshape", {{"x", x}});
  if (element_count(shape) != x.value().numel()) {
    refuse("reshape", text_of("the number of elements must stay, not become that of ", to_string(shape)),
           {{"x", x}});
  }
  return tape.record(
      x.value().reshaped(shape), {x},
      [from = x.shape()](const Tensor& d, InputGradients& inputs) { inputs.add(0, d.reshaped(from)); },
      [shape](auto, const Var&, auto changes) { return reshape(changes[0], shape); });
}

Var transpose(const Var& x) {
  common_tape("transpose", {{"x", x}});
  if (x.value().rank() != 2)
    refuse("transpose", "x must be a matrix", {{"x", x}}, "Give the order of the axes.");
  const std::int64_t axes[] = {1, 0};
  return transpose(x, axes);
}

Var transpose(const Var& x, std::span<const std::int64_t> axes) {
  Tape& tape = common_tape("transpose", {{"x", x}});
  const Strides strides = dense_strides(x.shape());
  View view;
  std::vector<bool> seen(x.shape().size(), false);
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis >= x.value().rank() || seen[axis]) break;
    seen[axis] = true;
    view.shape.push_back(x.shape()[axis]);
    view.strides.push_back(strides[axis]);
  }
  if (axes.size() != seen.size() || view.shape.size() != seen.size()) {
    refuse("transpose",
           text_of("axes ", to_string(Shape(axes.begin(), axes.end())), " must be a permutation of x's"),
           {{"x", x}});
  }
  return take(tape, x, view);
}

Var slice(const Var& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  Tape& tape = common_tape("slice", {{"x", x}});
  axis = checked_axis("slice", {"x", x}, axis);
  if (begin < 0 || begin >= end || end > x.value().size(axis)) {
    refuse("slice",
           text_of("0 <= begin < end <= extent must hold, not ", begin, "..", end, " on axis ", axis),
           {{"x", x}});
  }
  return take(tape, x, part(x.value(), axis, begin, end - begin));
}

Var as_strided(const Var& x, const Shape& shape, std::int64_t first, std::span<const std::int64_t> strides) {
  Tape& tape = common_tape("as_strided", {{"x", x}});
  std::int64_t least = first, most = first;
  for (std::size_t i = 0; i < std::min(shape.size(), strides.size()); ++i) {
    const std::int64_t reach = (shape[i] - 1) * strides[i];
    (reach < 0 ? least : most) += reach;
  }
  if (shape.size() != strides.size() || element_count(shape) < 1 || least < 0 || most >= x.value().numel())
    refuse("as_strided", text_of("the elements of ", to_string(shape), " must be x's"), {{"x", x}});
  return take(tape, x, {shape, Strides(strides.begin(), strides.end()), first});
}

Var concatenate(std::span<const Var> inputs, std::int64_t axis) {
  Tape& tape = check_inputs("concatenate", inputs);
  axis = checked_axis("concatenate", {"input 0", inputs[0]}, axis);
  check_extents("concatenate", inputs, axis, "extents must agree along all other axes");
  Shape shape = inputs[0].shape();
  shape[axis] = 0;
  for (const Var& input : inputs) shape[axis] += input.shape()[axis];
  Tensor y = tape.allocate(shape, inputs[0].dtype());

  std::vector<View> parts;
  std::int64_t begin = 0;
  for (const Var& input : inputs) {
    parts.push_back(part(y, axis, begin, input.shape()[axis]));
    scatter(y, input.value(), parts.back(), [](auto& to, auto from) { to = from; });
    begin += input.shape()[axis];
  }
  return tape.record(
      y, inputs,
      [parts = std::move(parts)](const Tensor& d, InputGradients& gradients) {
        for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
          if (!gradients.wanted(i)) continue;
          Tensor gradient(parts[i].shape, d.dtype());
          gather(gradient, d, parts[i]);
          gradients.add(i, gradient);
        }
      },
      [axis](std::span<const Var> from, const Var& y, std::span<const Var> changes) {
        std::vector<Var> all(changes.begin(), changes.end());
        for (std::size_t i = 0; i < all.size(); ++i)
          if (!all[i].is_of_tape()) all[i] = y.tape().constant(Tensor(from[i].shape(), from[i].dtype()));
        return concatenate(all, axis);
      });
}

Var stack(std::span<const Var> inputs, std::int64_t axis) {
  check_inputs("stack", inputs);
  check_extents("stack", inputs, {}, "shapes must agree");
  Shape narrow = inputs[0].shape();
  const std::int64_t rank = static_cast<std::int64_t>(narrow.size()) + 1;
  if (axis < -rank || axis >= rank)
    refuse("stack", text_of("the result has no axis ", axis), {{"input 0", inputs[0]}});
  narrow.insert(narrow.begin() + (axis < 0 ? axis + rank : axis), 1);
  std::vector<Var> rows;
  for (const Var& input : inputs) rows.push_back(reshape(input, narrow));
  return concatenate(rows, axis);
}

}  // namespace lagtape
