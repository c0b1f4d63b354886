#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/parameter.h"

namespace lagtape {

/// A group of parameters with its own learning rate: those whose name matches `match`, where '*' matches any run
/// of characters ("layers.*.c", "readout.*"). The first group that matches a name counts.
struct ParameterGroup {
  std::string match;
  double lr_factor = 1.0;
};

/// Changes parameters by their gradients. Frozen parameters (`trainable` false) keep their values and have no
/// state. An update is element by element, in the parameter's own precision, so its bits depend on nothing
/// but the values.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update of every trainable parameter, on its scale, with the rate lr (times the factor of its group),
  /// values then kept within the parameter's bounds. Throws InputError when the parameters are not those of the
  /// construction, by name, shape and dtype.
  void step(Parameters& parameters, double lr);
  /// The number of updates made so far.
  std::int64_t steps() const { return steps_; }

  /// Everything else that the next update depends on, sharing storage with the optimizer: "optimizer.steps"
  /// (f64, a scalar) and "optimizer.SLOT.PARAMETER" of the parameter's shape and dtype, such as
  /// "optimizer.m.layers.0.W1".
  std::vector<NamedTensor> state() const;
  /// Takes the same tensors from a file and copies them. Throws InputError as TensorReader::take does, and
  /// then changes nothing.
  void load_state(TensorReader& reader);

 protected:
  /// Each slot is one tensor per trainable parameter, zeros at first. Throws InputError for a group that
  /// matches no parameter.
  Optimizer(const Parameters& parameters, std::vector<std::string> slot_names,
            std::vector<ParameterGroup> groups);

 private:
  /// Updates one parameter; `steps()` counts this update already (1 in the first).
  virtual void update(Parameter& parameter, std::span<Tensor> slots, double lr) = 0;

  struct Entry {
    std::string name;
    Shape shape;
    Dtype dtype;
    double lr_factor;
    std::vector<Tensor> slots;
  };
  std::vector<std::string> slot_names_;
  std::vector<Entry> entries_;
  std::int64_t steps_ = 0;
};

/// Whether a name matches a pattern in which '*' matches any run of characters, also none.
bool matches(std::string_view pattern, std::string_view name);

/// An optimizer whose options were read: its learning rate, and how to make it for a model.
struct OptimizerPlan {
  double lr = 0;
  std::function<std::unique_ptr<Optimizer>(const Parameters&)> make;
};

}  // namespace lagtape
