#include "lagtape/optim/weight_average.h"

#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

constexpr std::string_view kAveragePrefix = "average.";
constexpr std::string_view kUpdatesName = "average.updates";

}  // namespace

WeightAverage::WeightAverage(const Parameters& parameters) {
  for (const Parameter& parameter : parameters)
    if (parameter.trainable) means_.push_back({parameter.name, Tensor(parameter.value.shape(), Dtype::f64)});
}

void WeightAverage::require_same(const Parameters& parameters) const {
  auto mean = means_.begin();
  bool same = true;
  for (const Parameter& parameter : parameters) {
    if (!parameter.trainable) continue;
    same = same && mean != means_.end() && mean->name == parameter.name &&
           mean->tensor.shape() == parameter.value.shape();
    if (same) ++mean;
  }
  if (!same || mean != means_.end())
    throw InputError({.op = "average"}, Rule::conflict,
                     "the trainable parameters must be those that the average was made for.");
}

void WeightAverage::add(const Parameters& parameters) {
  require_same(parameters);
  const double count = static_cast<double>(++updates_);
  auto mean = means_.begin();
  for (const Parameter& parameter : parameters) {
    if (!parameter.trainable) continue;
    with_scalar(parameter.value.dtype(), [&]<class T>() {
      auto weight = parameter.value.values<T>().begin();
      for (double& m : mean->tensor.values<double>()) m += (static_cast<double>(*weight++) - m) / count;
    });
    ++mean;
  }
}

void WeightAverage::assign_to(Parameters& parameters) const {
  require_same(parameters);
  if (updates_ == 0)
    throw InputError({.op = "average"}, Rule::missing, "there has been no update to take the mean over.");
  auto mean = means_.begin();
  for (Parameter& parameter : parameters) {
    if (!parameter.trainable) continue;
    with_scalar(parameter.value.dtype(), [&]<class T>() {
      auto weight = parameter.value.values<T>().begin();
      for (const double m : mean->tensor.values<double>()) *weight++ = static_cast<T>(m);
    });
    ++mean;
  }
}

std::vector<NamedTensor> WeightAverage::state() const {
  std::vector<NamedTensor> tensors;
  tensors.push_back({std::string(kUpdatesName), Tensor::scalar(static_cast<double>(updates_), Dtype::f64)});
  for (const NamedTensor& mean : means_) tensors.push_back({text_of(kAveragePrefix, mean.name), mean.tensor});
  return tensors;
}

void WeightAverage::load_state(TensorReader& reader) {
  const double updates = reader.take(kUpdatesName, Shape{}, Dtype::f64).item();
  if (!(updates >= 0 && updates <= 0x1p53 && updates == std::floor(updates)))
    throw InputError({.op = "average"}, Rule::out_of_range, text_of(kUpdatesName, " must be a count"),
                     text_of(updates));
  std::vector<NamedTensor> means;
  for (const NamedTensor& mean : means_) {
    const std::string name = text_of(kAveragePrefix, mean.name);
    means.push_back({mean.name, reader.take(name, mean.tensor.shape(), Dtype::f64).clone()});
  }
  means_ = std::move(means);
  updates_ = static_cast<std::int64_t>(updates);
}

}  // namespace lagtape
