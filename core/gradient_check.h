#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "lagtape/core/tape.h"

namespace lagtape {

/// The result of a check: the difference that was largest relative to the largest entry of its tensor.
struct GradientReport {
  double max_rel_error =
      0;              ///< |analytic - numeric| / largest |entry| of the tensor's gradient (see `floor`)
  std::string worst;  ///< "input 2 [17]: analytic 0.123, numeric 0.124", or "projection 3 of input 0: ..."
  std::int64_t compared = 0;  ///< how many numbers were compared
};

struct GradientCheckOptions {
  double step = 1e-5;   ///< step h of the 4th-order difference: f(x-2h), f(x-h), f(x+h), f(x+2h)
  int projections = 4;  ///< random directions per input: w.(J v) is compared with (J^T w).v
  int elements = 64;    ///< elements checked per input, all of them when it has no more
  std::uint64_t seed = 1;
  double floor =
      1e-6;  ///< a tensor whose largest gradient entry is below this is compared absolutely, scaled by 1
};

/// Compares the tape's gradients of the scalar f(inputs) with central differences, in f64. f records on the
/// given tape and receives one Var per input. Inputs are f64; throws InputError otherwise. A non-finite value
/// anywhere makes max_rel_error infinite.
GradientReport check_gradients(const std::function<Var(Tape&, std::span<const Var>)>& f,
                               std::span<const Tensor> inputs, const GradientCheckOptions& options = {});

}  // namespace lagtape
