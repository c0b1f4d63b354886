#pragma once

#include <map>
#include <set>
#include <string>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// Names of local variables in a function of C: all different, and none a word of the language or a function of math.h.
class CNames {
 public:
  /// `taken` are the function's names so far.
  explicit CNames(std::set<std::string> taken);

  /// A name like the wished one.
  std::string unique(const std::string& wished);

 private:
  std::set<std::string> taken_;
};

/// A name of C made from another one: letters, digits and underscores.
std::string c_identifier(const std::string& name);

}  // namespace lagtape
