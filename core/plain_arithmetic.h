#pragma once

#include <cfenv>

namespace lagtape {

/// While it lives, this thread rounds to nearest and keeps subnormal numbers, however the calling program does; that comes
/// back. What reads numbers, computes on the calling thread or writes texts begins with one.
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
