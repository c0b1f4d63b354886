#include "lagtape/ops/reduce.h"

#include "lagtape/ops/broadcast.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {
namespace {

/// Sums to `narrow`, the shape of x with the reduced axes at 1 or, in front, missing.
Var reduce(Tape& tape, const Var& x, const Shape& narrow, const Shape& result) {
  return tape.record(
      sum_to(x.value(), narrow).reshaped(result), {x},
      [shape = x.shape(), narrow](const Tensor& d, InputGradients& inputs) {
        inputs.add(0, expand(d.reshaped(narrow), shape));
      },
      [=](auto, const Var& y, auto changes) { return reduce(y.tape(), changes[0], narrow, result); });
}

}  // namespace

Var sum(const Var& x) { return reduce(common_tape("sum", {{"x", x}}), x, {}, {}); }

Var sum(const Var& x, std::int64_t axis, bool keep) {
  Tape& tape = common_tape("sum", {{"x", x}});
  axis = checked_axis("sum", {"x", x}, axis);
  Shape narrow = x.shape();
  narrow[axis] = 1;
  Shape result = narrow;
  if (!keep) result.erase(result.begin() + axis);
  return reduce(tape, x, narrow, result);
}

Var mean(const Var& x) {
  common_tape("mean", {{"x", x}});
  if (x.value().numel() == 0) refuse("mean", "there must be something to average", {{"x", x}});
  return sum(x) / static_cast<double>(x.value().numel());
}

Var mean(const Var& x, std::int64_t axis, bool keep) {
  common_tape("mean", {{"x", x}});
  const std::int64_t extent = x.value().size(checked_axis("mean", {"x", x}, axis));
  if (extent == 0) refuse("mean", "there must be something to average", {{"x", x}});
  return sum(x, axis, keep) / static_cast<double>(extent);
}

}  // namespace lagtape
