#include "lagtape/ops/embedding.h"

#include <algorithm>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/checks.h"

namespace lagtape {

Var embedding(const Var& e, std::span<const std::int32_t> indices) {
  Tape& tape = common_tape("embedding", {{"E", e}});
  if (e.value().rank() != 2) refuse("embedding", "E must be [V, d]", {{"E", e}});
  const std::int64_t vocabulary = e.value().size(0), width = e.value().size(1);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0 && indices[i] < vocabulary) continue;
    refuse("embedding",
           concat("indices must be 0..", vocabulary - 1, ", not ", indices[i], " at position ", i),
           {{"E", e}});
  }
  Tensor y = tape.allocate({static_cast<std::int64_t>(indices.size()), width}, e.dtype());
  with_scalar(e.dtype(), [&]<class T>() {
    const auto from = e.value().values<T>();
    auto to = y.values<T>().begin();
    for (const std::int32_t index : indices) to = std::copy_n(from.begin() + index * width, width, to);
  });
  std::vector<std::int32_t> rows(indices.begin(), indices.end());
  return tape.record(y, {e}, [rows = std::move(rows), width](const Tensor& d, InputGradients& inputs) {
    with_scalar(d.dtype(), [&]<class T>() {
      const auto to = inputs.accumulator(0).values<T>();
      auto from = d.values<T>().begin();
      for (const std::int32_t row : rows) {
        for (std::int64_t j = 0; j < width; ++j) to[row * width + j] += *from++;
      }
    });
  });
}

}  // namespace lagtape
