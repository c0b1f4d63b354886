#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lagtape/core/problem.h"
#include "lagtape/data/stored_sequences.h"

namespace lagtape {

/// The replacement of a missing value ('?' or 'NaN' in the file): an error; 0; or linear interpolation between
/// its neighbors in time (before the first known value and after the last, the nearest one).
enum class MissingValues { error, zero, interpolate };

/// How archive files are read.
struct ArchiveOptions {
  MissingValues missing = MissingValues::error;
  Dtype dtype = Dtype::f32;  ///< the precision in which inputs are kept
  bool steps_of_time =
      false;  ///< the last input is the time since the previous step, if the file has time stamps
};

/// The content of files from a public archive: sequences, each with one class or real target.
struct ArchiveData {
  std::vector<std::string> classes = {};  ///< in the order of the first file; empty for real targets
  StoredSequences sequences = {};
  std::int64_t uneven = 0;  ///< sequences whose time stamps are not evenly spaced
};

/// Removes the text before the next separator, and the separator.
std::string_view take_part(std::string_view& text, char separator);

/// All parts between separators; a separator in parentheses does not count.
std::vector<std::string_view> parts_of(std::string_view text, char separator);

std::string in_lower_case(std::string_view text);  ///< A-Z become a-z

/// Assembles the sequences of one file, value by value, and rejects values that do not fit, with the line.
class ArchiveBuilder {
 public:
  ArchiveBuilder(const std::filesystem::path& path, const ArchiveOptions& options, ArchiveData& data);

  void next_line() { line_ += 1; }
  void first_line() { line_ = 0; }  ///< The file is read a second time.
  /// Throws InputError if an earlier file has other classes. Empty: targets are real.
  void set_classes(std::vector<std::string> classes);
  /// The number of dimensions of every sequence; by default that of the first. Throws InputError if an earlier
  /// file has another number.
  void set_dimensions(std::int64_t dimensions);

  /// All sequences have the same number of steps: this, or that of the first sequence.
  void set_equal_length(std::optional<std::int64_t> steps) { length_ = steps.value_or(0); }

  /// The next value of the dimension: a number, '?' or 'NaN'. Throws InputError for other texts.
  void add_value(std::string_view text);
  /// The time of the value added last, in any unit; either all values in a file have one, or none do.
  void add_time(double time) { times_.push_back(time); }
  void end_dimension();
  /// Ends the sequence and replaces its missing values. Throws InputError for differing lengths, a wrong number
  /// of dimensions, and a target that is not a class or number. `padded`: final steps without any value do not
  /// count as steps.
  void end_sequence(std::string_view target, bool padded = false);
  /// Throws InputError if the file had no sequences.
  void end_file() const;

  [[noreturn]] void refuse(const Problem& problem) const;
  [[noreturn]] void refuse_value(Rule rule, const std::string& expected, const std::string& found) const;
  [[noreturn]] void refuse(Rule rule, const std::string& statement, const std::string& found = {}) const;

  const std::vector<std::string>& classes() const { return data_.classes; }

 private:
  std::int64_t steps_without_padding() const;
  void check_length();
  void fill_missing(std::vector<double>& values, std::size_t dimension) const;
  void add_steps_of_time();
  void store();
  void read_target(std::string_view text);

  std::string path_;
  ArchiveOptions options_;
  ArchiveData& data_;
  std::int64_t before_;  ///< sequences from earlier files
  std::int64_t line_ = 0;
  std::optional<std::int64_t> dimensions_ = {};
  std::optional<std::int64_t> length_ =
      {};  ///< steps in each sequence; 0: as in the first; empty: any number
  std::unordered_map<std::string, std::int32_t> class_of_ = {};  ///< the number of each class
  std::vector<std::vector<double>> values_ = {};                 ///< values of the dimensions that have ended
  std::vector<double> dimension_ = {};                           ///< values of the current dimension
  /// times of the current dimension, and of the first one
  std::vector<double> times_ = {}, first_times_ = {};
};

}  // namespace lagtape
