#include "lagtape/tools/train/score/confusion.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

ScoredClass class_at(const Tensor& outputs, const Batch& batch, std::int64_t place) {
  const double target =
      batch.classes.empty() ? batch.y.at(place) : batch.classes[static_cast<std::size_t>(place)];
  const std::int64_t q = outputs.size(-1);
  return with_scalar(outputs.dtype(), [&]<class T>() -> ScoredClass {
    const T* z = outputs.values<T>().data() + place * q;
    return {.actual = target >= 0 ? static_cast<std::int64_t>(target) : -1,
            .predicted = q == 1 ? z[0] > 0 : std::max_element(z, z + q) - z};
  });
}

Confusion::Confusion(const DataShape& data) : data_(data) {
  constexpr std::int64_t kMost = 4096;
  if (classes() < 2 || classes() > kMost) {
    throw unexpected({.op = "confusion"}, Rule::not_supported, text_of("data of 2 to ", kMost, " classes"),
                     classes() > 0 ? text_of(classes()) : "real numbers as targets");
  }
  counts_.resize(static_cast<std::size_t>(classes() * classes()));
}

double Confusion::actual(std::int64_t of) const {
  double sum = 0;
  for (std::int64_t as = 0; as < classes(); ++as) sum += static_cast<double>(count(of, as));
  return sum;
}
double Confusion::predicted(std::int64_t as) const {
  double sum = 0;
  for (std::int64_t of = 0; of < classes(); ++of) sum += static_cast<double>(count(of, as));
  return sum;
}
double Confusion::precision(std::int64_t of) const {
  return static_cast<double>(count(of, of)) / predicted(of);
}
double Confusion::recall(std::int64_t of) const { return static_cast<double>(count(of, of)) / actual(of); }
double Confusion::f1(std::int64_t of) const {
  return 2 * static_cast<double>(count(of, of)) / (actual(of) + predicted(of));
}

void Confusion::add(const Tensor& outputs, const Batch& batch) {
  const std::int64_t stride = outputs.rank() == 3 ? outputs.size(1) : 1;
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    const std::int64_t steps = outputs.rank() == 3 ? batch.lengths[static_cast<std::size_t>(row)] : 1;
    for (std::int64_t place = row * stride; place < row * stride + steps; ++place)
      if (const auto [actual, predicted] = class_at(outputs, batch, place); actual >= 0)
        counts_[static_cast<std::size_t>(actual * classes() + predicted)] += 1;
  }
}

}  // namespace lagtape
