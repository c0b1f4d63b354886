#pragma once

#include <string>

#include "lagtape/tools/exchange/export/c99/c_numbers.h"
#include "lagtape/tools/exchange/export/step_names.h"

namespace lagtape {

/// What a C file declares and defines for the names of a step: NAME_class_names, and NAME_step_at, which
/// computes calendar terms from times.
struct CStepNames {
  std::string macros = {}, prototypes = {}, definitions = {};
  std::string usage = {};  ///< lines for the comment
};

CStepNames c_step_names(const StepNames& names, const CStyle& style);

}  // namespace lagtape
