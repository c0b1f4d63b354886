#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lagtape/core/tensor.h"
#include "lagtape/tools/exchange/export/step_names.h"

namespace lagtape {

/// How matrices are stored in the C file.
enum class CWeights : std::uint8_t { real, int16, int8 };

/// The choices in an export to C.
struct CExportOptions {
  std::string name;  ///< prefix of all names of the file: NAME_init, NAME_step, ...; an identifier of C
  std::optional<Dtype> dtype = {};  ///< the scalar; without a value the model's
  CWeights weights = CWeights::real;
  /// Products in whole numbers: the vectors are rounded to these at each step. Not finer than int16, and not coarser than the
  /// weights, which must be whole numbers too. real: products are in the scalar.
  CWeights arithmetic = CWeights::real;
  bool fast_functions = false;  ///< tanh and sigmoid by approximations (kFastTanhError, c_helpers.h)
  StepNames names = {};         ///< for the comment
};

}  // namespace lagtape
