#include "lagtape/ops/reverse_time.h"

#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// Calls f(step of x, step of y), pointers to the numbers of each, for all steps within the lengths.
template <class F>
void for_reversed(std::int64_t rows, std::int64_t steps, std::int64_t width,
                  std::span<const std::int64_t> lengths, ThreadPool& pool, const F& f) {
  pool.run(static_cast<int>(rows), [&](int b, int) {
    const std::int64_t length = lengths.empty() ? steps : lengths[static_cast<std::size_t>(b)];
    for (std::int64_t t = 0; t < length; ++t)
      f((b * steps + length - 1 - t) * width, (b * steps + t) * width);
  });
}

void reverse(const Tensor& x, std::span<const std::int64_t> lengths, ThreadPool& pool, Tensor& y) {
  if (x.rank() != 3)
    throw InputError({.op = "reverse_time"}, Rule::shape, "x is [B, T, n]", to_string(x.shape()));
  const std::int64_t width = x.size(2);
  with_scalar(x.dtype(), [&]<class T>() {
    const T* from = x.values<T>().data();
    T* to = y.values<T>().data();
    for_reversed(x.size(0), x.size(1), width, lengths, pool, [&](std::int64_t of_x, std::int64_t of_y) {
      for (std::int64_t i = 0; i < width; ++i) to[of_y + i] = from[of_x + i];
    });
  });
}

}  // namespace

Tensor reversed_in_time(const Tensor& x, std::span<const std::int64_t> lengths, ThreadPool& pool) {
  Tensor y(x.shape(), x.dtype());
  reverse(x, lengths, pool, y);
  return y;
}

Var reverse_time(const Var& x, std::span<const std::int64_t> lengths, ThreadPool& pool) {
  std::vector<std::int64_t> own(lengths.begin(), lengths.end());
  Tensor y = x.tape().allocate(x.shape(), x.dtype());
  reverse(x.value(), lengths, pool, y);
  return x.tape().record(y, {x}, [own = std::move(own), &pool](const Tensor& d, InputGradients& inputs) {
    const std::int64_t width = d.size(2);
    with_scalar(d.dtype(), [&]<class T>() {
      const T* from = d.values<T>().data();
      T* to = inputs.accumulator(0).values<T>().data();
      for_reversed(d.size(0), d.size(1), width, own, pool, [&](std::int64_t of_x, std::int64_t of_y) {
        for (std::int64_t i = 0; i < width; ++i) to[of_x + i] += from[of_y + i];
      });
    });
  });
}

}  // namespace lagtape
