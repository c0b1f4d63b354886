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

/// The number u that an optimizer changes instead of a value v: v itself, log v, or log((v - low) / (high -
/// v)).
enum class Scale : std::uint8_t { linear, log, logit };

/// The bounds of a parameter's values: after every update, a value beyond a bound is set to it. On the logit
/// scale, which requires both bounds, values lie strictly between them; on the log scale they are positive.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  Scale scale = Scale::linear;

  bool contains(double v) const;
  double to_scale(double v) const;    ///< u of a value within the bounds
  double from_scale(double u) const;  ///< the value within the bounds that is nearest to the value of u
  double slope(double v) const;       ///< dv/du
  bool operator==(const Bounds&) const = default;
};

/// A named trainable tensor with its gradient (same shape and dtype).
struct Parameter {
  std::string name;
  Tensor value;
  Tensor grad;
  bool trainable = true;
  Bounds bounds = {};
  std::string unit = {};  ///< the unit of the values, for display only
};

/// The parameters of a model in a fixed order, found by name. References stay valid when more are added.
class Parameters {
 public:
  /// Throws InputError if the name is taken.
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
