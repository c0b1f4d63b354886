#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lagtape/cells/build/initial_values.h"
#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

template <class T>
struct OptionKindOf;

/// The affine map y = W x + W.bias of every step, as a layer and as the read-out of a model.
///
/// Shapes: x [input], W [units, input], y and W.bias [units]. Initialization: "linear", both from
/// U(-1/sqrt(input), 1/sqrt(input)); "kaiming_normal", W from N(0, 2 / input) and the bias as before; or an
/// initializer for each parameter.
struct Linear {
  static const LayerEntry kEntry;

  struct Init {
    std::string name = "linear";
    InitialValues values = {};  ///< values that replace these
  };
  std::int64_t units = 0;  ///< size of the output, from 1; must be given
  Init init = {};

  Layer build(std::int64_t input) const;
  /// The same for y = f(W x + W.bias).
  Layer build(std::int64_t input, const std::function<StepVar(LayerRecorder& step, StepVar z)>& f) const;
};

/// A name, or initializers by parameter name.
extern const OptionKindOf<Linear::Init> kLinearInit;
inline constexpr std::string_view kAboutLinearInit =
    "first values: all from U(+-1/sqrt(input)), or the matrix from N(0, 2 / input), or an object of "
    "parameters by name";

}  // namespace lagtape
