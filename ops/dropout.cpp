#include "lagtape/ops/dropout.h"

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/checks.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {

Var dropout(const Var& x, double p, std::uint64_t seed, std::uint64_t stream, bool training) {
  Tape& tape = common_tape("dropout", {{"x", x}});
  if (!(p >= 0 && p < 1))
    throw InputError({.op = "dropout"}, Rule::out_of_range, "0 <= p < 1 must hold", text_of("p ", p));
  if (!training || p == 0) return x;
  const RandomStream draws(seed, stream);
  Tensor mask = tape.allocate(x.shape(), x.dtype());
  with_scalar(x.dtype(), [&]<class T>() {
    const auto factors = mask.values<T>();
    for (std::size_t i = 0; i < factors.size(); ++i)
      factors[i] = draws.uniform_at(i) < p ? T(0) : T(1 / (1 - p));
  });
  return x * tape.constant(mask);
}

}  // namespace lagtape
