#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace lagtape {

class JsonReader;

/// The first value of a number that has no default, so that leaving it out is noticed.
inline constexpr double kNotSet = std::numeric_limits<double>::quiet_NaN();

/// Reads a JSON object over the options of a struct: a key that is there replaces the value that the struct
/// holds, another one keeps it. The struct itself does not change.
using ReadOptions = std::function<void(JsonReader& reader)>;

template <class Options>
ReadOptions reading_over(const Options& options) {
  return [options](JsonReader& reader) {
    Options copy = options;
    copy.read(reader);
  };
}

/// The options as a JSON text that reads as them, {"units":16,"tau":10.0,...}, with every default.
std::string options_text(const ReadOptions& read);

/// Throws InputError for options that reading them from JSON would refuse, with the same messages:
/// "tau_gru: /units: expected integer >= 1 and <= 65536, got 0".
void check_options(std::string_view layer, const ReadOptions& read);

/// Checks the options of a layer's struct; its `build` begins with this.
template <class Options>
void check(const Options& options) {
  check_options(Options::kEntry.name, reading_over(options));
}

}  // namespace lagtape
