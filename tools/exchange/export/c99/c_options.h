#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lagtape/core/tensor.h"
#include "lagtape/tools/exchange/export/step_names.h"

namespace lagtape {

/// How matrices are stored in the C file.
enum class CWeights : std::uint8_t { real, int16, int8 };

/// The options of an export to C.
struct CExportOptions {
  std::string name;  ///< prefix of all names in the file: NAME_init, NAME_step, ...; a C identifier
  std::optional<Dtype> dtype = {};  ///< the scalar type; if empty, the model's
  CWeights weights = CWeights::real;
  /// Integer products: vectors are rounded to these integers at each step. Not finer than int16, and not
  /// coarser than the weights, which must be integers too. real: products use the scalar type.
  CWeights arithmetic = CWeights::real;
  bool fast_functions = false;  ///< tanh and sigmoid by approximations (kFastTanhError, c_helpers.h)
  StepNames names = {};         ///< for the comment
};

}  // namespace lagtape
