#include "lagtape/ops/matrices.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/checks.h"

namespace lagtape {
namespace {

/// Calls f(k, place) for the k-th number of a strict upper triangle, where `place` is its position in the
/// matrix.
template <class F>
void for_each_above(std::int64_t n, F f) {
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j) f(k++, i * n + j);
}

}  // namespace

Var identity(const Var& like, std::int64_t n) {
  Tensor value = like.tape().allocate({n, n}, like.dtype());
  for (std::int64_t i = 0; i < n; ++i) value.set(i * n + i, 1);
  return like.tape().constant(value);
}

Var arange(const Var& like, std::int64_t n) {
  Tensor value = like.tape().allocate({n}, like.dtype());
  for (std::int64_t i = 0; i < n; ++i) value.set(i, static_cast<double>(i));
  return like.tape().constant(value);
}

Var strict_upper(const Var& v, std::int64_t n) {
  if (v.shape() != Shape{n * (n - 1) / 2})
    refuse("strict_upper",
           text_of("v must be [", n * (n - 1) / 2, "], the triangle above [", n, ", ", n, "]"), {{"v", v}});
  Tensor value = v.tape().allocate({n, n}, v.dtype());
  with_scalar(v.dtype(), [&]<class T>() {
    const auto from = v.value().values<T>();
    const auto to = value.values<T>();
    for_each_above(n, [&](std::int64_t k, std::int64_t place) { to[place] = from[k]; });
  });
  return v.tape().record(
      value, {v},
      [n](const Tensor& d, InputGradients& inputs) {
        with_scalar(d.dtype(), [&]<class T>() {
          const auto from = d.values<T>();
          const auto to = inputs.accumulator(0).values<T>();
          for_each_above(n, [&](std::int64_t k, std::int64_t place) { to[k] += from[place]; });
        });
      },
      [n](auto, const Var&, auto changes) { return strict_upper(changes[0], n); });
}

}  // namespace lagtape
