#pragma once

#include <cfenv>

namespace lagtape {

/// While it lives, this thread rounds to nearest and keeps subnormal numbers, whatever mode the calling program
/// uses; the destructor restores that mode. Code that reads numbers, computes on the calling thread or writes
/// texts creates one first.
class PlainArithmetic {
 public:
  PlainArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PlainArithmetic() { std::fesetenv(&before_); }
  PlainArithmetic(const PlainArithmetic&) = delete;
  PlainArithmetic& operator=(const PlainArithmetic&) = delete;

 private:
  std::fenv_t before_ = {};
};

}  // namespace lagtape
