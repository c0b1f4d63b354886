#include "lagtape/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lagtape/core/error.h"

namespace lagtape {

bool matches(std::string_view pattern, std::string_view name) {
  // After a mismatch, the last '*' takes one character more; earlier ones need no second try.
  std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

namespace {

constexpr std::string_view kPrefix = "optimizer.";
constexpr std::string_view kStepsName = "optimizer.steps";

std::string slot_tensor_name(const std::string& slot, const std::string& parameter) {
  return text_of(kPrefix, slot, ".", parameter);
}

void refuse_unused_groups(const Parameters& parameters, const std::vector<ParameterGroup>& groups) {
  for (const ParameterGroup& group : groups) {
    bool used = std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
      return parameter.trainable && matches(group.match, parameter.name);
    });
    if (used) continue;
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters) {
      if (parameter.trainable) names.push_back(parameter.name);
    }
    throw InputError(unknown_name("parameter group", group.match, names).within({.op = "optimizer"}));
  }
}

void keep_within_bounds(Parameter& parameter) {
  if (parameter.bounds == Bounds{}) return;
  with_scalar(parameter.value.dtype(), [&]<class T>() {
    const T low = static_cast<T>(parameter.bounds.low), high = static_cast<T>(parameter.bounds.high);
    for (T& v : parameter.value.values<T>()) v = std::clamp(v, low, high);
  });
}

/// The parameter on the scale of its bounds, with the gradient there.
Parameter on_scale(const Parameter& parameter) {
  Parameter moved{parameter.name, parameter.value.clone(), parameter.grad.clone()};
  for (std::int64_t i = 0; i < parameter.value.numel(); ++i) {
    const double v = parameter.value.at(i);
    moved.value.set(i, parameter.bounds.to_scale(v));
    moved.grad.set(i, parameter.grad.at(i) * parameter.bounds.slope(v));
  }
  return moved;
}

/// Sets the values from those on the scale, strictly within bounds also where rounding would take them there.
void take_from_scale(Parameter& parameter, const Tensor& moved) {
  const Bounds& bounds = parameter.bounds;
  with_scalar(parameter.value.dtype(), [&]<class T>() {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const bool between = bounds.scale == Scale::logit;
    const T low = between ? std::nextafter(static_cast<T>(bounds.low), kInfinity)
                          : std::max(static_cast<T>(bounds.low), std::numeric_limits<T>::min());
    const T high = between ? std::nextafter(static_cast<T>(bounds.high), -kInfinity)
                           : std::min(static_cast<T>(bounds.high), std::numeric_limits<T>::max());
    T* v = parameter.value.values<T>().data();
    for (std::int64_t i = 0; i < moved.numel(); ++i)
      v[i] = std::clamp(static_cast<T>(bounds.from_scale(moved.at(i))), low, high);
  });
}

double lr_factor_of(const std::vector<ParameterGroup>& groups, std::string_view name) {
  for (const ParameterGroup& group : groups) {
    if (matches(group.match, name)) return group.lr_factor;
  }
  return 1.0;
}

}  // namespace

Optimizer::Optimizer(const Parameters& parameters, std::vector<std::string> slot_names,
                     std::vector<ParameterGroup> groups)
    : slot_names_(std::move(slot_names)) {
  refuse_unused_groups(parameters, groups);
  for (const Parameter& parameter : parameters) {
    if (!parameter.trainable) continue;
    Entry entry{parameter.name,
                parameter.value.shape(),
                parameter.value.dtype(),
                lr_factor_of(groups, parameter.name),
                {}};
    for (std::size_t i = 0; i < slot_names_.size(); ++i) entry.slots.emplace_back(entry.shape, entry.dtype);
    entries_.push_back(std::move(entry));
  }
}

void Optimizer::step(Parameters& parameters, double lr) {
  std::vector<Parameter*> trainable;
  for (Parameter& parameter : parameters) {
    if (parameter.trainable) trainable.push_back(&parameter);
  }
  bool same = trainable.size() == entries_.size();
  for (std::size_t i = 0; same && i < entries_.size(); ++i) {
    const Parameter& parameter = *trainable[i];
    same = parameter.name == entries_[i].name && parameter.value.shape() == entries_[i].shape &&
           parameter.value.dtype() == entries_[i].dtype && parameter.grad.shape() == entries_[i].shape;
  }
  if (!same) {
    throw InputError({.op = "optimizer"}, Rule::conflict,
                     "step needs the trainable parameters that the optimizer was made for.");
  }
  ++steps_;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Parameter& parameter = *trainable[i];
    const double rate = lr * entries_[i].lr_factor;
    if (parameter.bounds.scale == Scale::linear) {
      update(parameter, entries_[i].slots, rate);
      keep_within_bounds(parameter);
    } else {
      Parameter moved = on_scale(parameter);
      update(moved, entries_[i].slots, rate);
      take_from_scale(parameter, moved.value);
    }
  }
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> tensors;
  tensors.push_back({std::string(kStepsName), Tensor::scalar(static_cast<double>(steps_), Dtype::f64)});
  for (const Entry& entry : entries_) {
    for (std::size_t i = 0; i < slot_names_.size(); ++i) {
      tensors.push_back({slot_tensor_name(slot_names_[i], entry.name), entry.slots[i]});
    }
  }
  return tensors;
}

void Optimizer::load_state(TensorReader& reader) {
  double steps = reader.take(kStepsName, Shape{}, Dtype::f64).item();
  if (!(steps >= 0 && steps <= 0x1p53 && steps == std::floor(steps))) {
    throw InputError({.op = "optimizer"}, Rule::out_of_range, text_of(kStepsName, " must be a count"),
                     text_of(steps));
  }
  std::vector<Entry> entries = entries_;
  for (Entry& entry : entries) {
    for (std::size_t i = 0; i < slot_names_.size(); ++i) {
      std::string name = slot_tensor_name(slot_names_[i], entry.name);
      entry.slots[i] = reader.take(name, entry.shape, entry.dtype).clone();
    }
  }
  entries_ = std::move(entries);
  steps_ = static_cast<std::int64_t>(steps);
}

}  // namespace lagtape
