#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// The bounds of a parameter's values: after every update, a value beyond a bound is set to it.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool operator==(const Bounds&) const = default;
};

/// A named trainable tensor with its gradient (same shape and dtype).
struct Parameter {
  std::string name;
  Tensor value;
  Tensor grad;
  bool trainable = true;
  Bounds bounds = {};
};

/// The parameters of a model in a fixed order, found by name. References stay valid when more are added.
class Parameters {
 public:
  /// Throws InputError when the name is taken.
  Parameter& add(std::string name, Tensor value, bool trainable = true);
  /// Throws InputError with the nearest known name.
  Parameter& operator[](std::string_view name);
  const Parameter& operator[](std::string_view name) const;
  bool contains(std::string_view name) const;

  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  /// The number of trainable scalars.
  std::int64_t count() const;
  void zero_grad();

 private:
  std::deque<Parameter> all_;
  std::map<std::string, std::size_t, std::less<>> places_;  // by name
};

}  // namespace lagtape
