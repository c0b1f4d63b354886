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

/// A group of parameters with its own learning rate: those whose name matches `match`, where '*' matches any
/// run of characters ("layers.*.c", "readout.*"). The first group that matches a name applies.
struct ParameterGroup {
  std::string match;
  double lr_factor = 1.0;
};

/// Updates parameters from their gradients. Frozen parameters (`trainable` false) keep their values and have no
/// state. Updates are element-wise, in the parameter's own precision, so the resulting bits depend only on the
/// values.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates every trainable parameter once, on its scale, with the rate lr (times the factor of its group),
  /// then clips values to the parameter's bounds. Throws InputError if the parameters differ from those at
  /// construction in name, shape or dtype.
  void step(Parameters& parameters, double lr);
  /// The number of updates made so far.
  std::int64_t steps() const { return steps_; }

  /// Everything else that the next update depends on, sharing storage with the optimizer: "optimizer.steps"
  /// (f64, a scalar) and "optimizer.SLOT.PARAMETER" of the parameter's shape and dtype, such as
  /// "optimizer.m.layers.0.W1".
  std::vector<NamedTensor> state() const;
  /// Copies the same tensors from a file. On error, throws InputError as TensorReader::take does, and changes
  /// nothing.
  void load_state(TensorReader& reader);

 protected:
  /// Each slot is one tensor per trainable parameter, zeros at first. Throws InputError for a group that
  /// matches no parameter.
  Optimizer(const Parameters& parameters, std::vector<std::string> slot_names,
            std::vector<ParameterGroup> groups);

 private:
  /// Updates one parameter; `steps()` already counts this update (1 in the first).
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

/// Whether a name matches a pattern in which '*' matches any run of characters, including none.
bool matches(std::string_view pattern, std::string_view name);

/// An optimizer whose options have been read: its learning rate, and a function that makes it for a model.
struct OptimizerPlan {
  double lr = 0;
  std::function<std::unique_ptr<Optimizer>(const Parameters&)> make;
};

}  // namespace lagtape
