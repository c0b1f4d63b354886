#pragma once

#include <locale>
#include <string>

namespace lagtape {

/// The global locale of a host that groups digits by threes and writes a decimal comma, as de_DE does, for as long as this
/// lives.
class HostileLocale {
 public:
  HostileLocale()
      : before_(std::locale::global(std::locale(std::locale::classic(), new Punctuation))) {}  // it owns them
  ~HostileLocale() { std::locale::global(before_); }
  HostileLocale(const HostileLocale&) = delete;
  HostileLocale& operator=(const HostileLocale&) = delete;

 private:
  struct Punctuation : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
    std::string do_truename() const override { return "wahr"; }
  };

  std::locale before_;
};

}  // namespace lagtape
