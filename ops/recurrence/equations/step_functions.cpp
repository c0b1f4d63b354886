#include "lagtape/ops/recurrence/equations/step_functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/axes.h"
#include "lagtape/ops/recurrence/equations/operators.h"

namespace lagtape {
namespace {

using Arguments = std::span<const StepVar>;

/// An axis or a number of elements: a number that is known when the step is recorded.
std::int64_t whole(StepVar v) {
  const StepTape& tape = v.tape();
  if (const double value = tape.at(v.id()).value; tape.is_number(v) && value == std::floor(value))
    return static_cast<std::int64_t>(value);
  throw InputError({}, Rule::wrong_type,
                   "an axis is a whole number; of two arrays there are minimum(a, b) and maximum(a, b)");
}

/// The array as a vector, over which a function without an axis goes.
StepVar flat(StepVar a) {
  return a.shape().rank < 2 ? a : a.tape().reshape(a, RowShape::vector(a.shape().width()));
}

/// f(array, axis), over all elements where no axis is given. (Before grammar 2 that was the last axis.)
template <class F>
StepVar along(Arguments v, F f) {
  if (v.size() > 1) return f(v[0], whole(v[1]));
  if (v[0].shape().rank == 0) return f(v[0].tape().broadcast(v[0], RowShape::vector(1)), -1);
  return f(v[0].tape().spreading() == StepTape::Spreading::numpy ? flat(v[0]) : v[0], -1);
}

template <class F>
StepVar along_last(Arguments v, F f) {
  return f(v[0], v.size() > 1 ? whole(v[1]) : -1);
}

StepVar silu(StepVar a) { return a * sigmoid(a); }

/// sin(pi a) / (pi a), as NumPy has it.
StepVar sinc(StepVar a) {
  const StepVar x = std::numbers::pi * a, away = sign(abs(x)), safe = x + (1 - away);
  return where(away, sin(safe) / safe, a.tape().constant(1));
}

constexpr StepFunction kFunctions[] = {
    {"sum", 1, 2,
     [](Arguments v) { return along(v, [](StepVar a, std::int64_t axis) { return sum(a, axis); }); }},
    {"mean", 1, 2,
     [](Arguments v) { return along(v, [](StepVar a, std::int64_t axis) { return mean(a, axis); }); }},
    {"max", 1, 2,
     [](Arguments v) {
       return along(v, [](StepVar a, std::int64_t axis) { return extreme(ElementOp::maximum, a, axis); });
     }},
    {"min", 1, 2,
     [](Arguments v) {
       return along(v, [](StepVar a, std::int64_t axis) { return extreme(ElementOp::minimum, a, axis); });
     }},
    {"norm", 1, 2,
     [](Arguments v) {
       return along(v, [](StepVar a, std::int64_t axis) { return sqrt(sum(a * a, axis)); });
     }},
    {"logsumexp", 1, 2, [](Arguments v) { return along(v, logsumexp); }},
    {"softmax", 1, 2, [](Arguments v) { return along_last(v, softmax); }},
    {"cumsum", 1, 2, [](Arguments v) { return along_last(v, cumsum); }},
    {"roll", 2, 3, [](Arguments v) { return roll(v[0], whole(v[1]), v.size() > 2 ? whole(v[2]) : -1); }},
    {"transpose", 1, 1, [](Arguments v) { return transposed(v[0]); }},
    {"where", 3, 3,
     [](Arguments v) {
       if (v[0].tape().spreading() == StepTape::Spreading::numpy) return where(v[0], v[1], v[2]);
       return v[0] * v[1] + (1 - v[0]) * v[2];
     }},
    {"mod", 2, 2, [](Arguments v) { return mod(v[0], v[1]); }},
    {"outer", 2, 2, [](Arguments v) { return outer(v[0], v[1]); }},
    {"clip", 3, 3, [](Arguments v) { return minimum(maximum(v[0], v[1]), v[2]); }},
    {"clamp", 3, 3, [](Arguments v) { return minimum(maximum(v[0], v[1]), v[2]); }},
    {"silu", 1, 1, [](Arguments v) { return silu(v[0]); }},
    {"gelu", 1, 1, [](Arguments v) { return 0.5 * v[0] * (1 + erf(v[0] * (1 / std::numbers::sqrt2))); }},
    {"softsign", 1, 1, [](Arguments v) { return v[0] / (1 + abs(v[0])); }},
    {"sinc", 1, 1, [](Arguments v) { return sinc(v[0]); }},
};

}  // namespace

std::span<const StepFunction> step_functions() { return kFunctions; }

const StepFunction* step_function_named(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &StepFunction::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

}  // namespace lagtape
