#pragma once

#include <map>
#include <set>
#include <string>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// Names of local variables in a C function: all different, and none a C keyword or a math.h function.
class CNames {
 public:
  /// `taken`: the function's names so far.
  explicit CNames(std::set<std::string> taken);

  /// A name similar to the desired one.
  std::string unique(const std::string& wished);

 private:
  std::set<std::string> taken_;
};

/// A C name made from another name: letters, digits and underscores.
std::string c_identifier(const std::string& name);

}  // namespace lagtape
