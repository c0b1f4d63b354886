#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// The place of an error. Unknown fields are empty, or 0.
struct Place {
  std::string file = {};     ///< a path, or the name of another source: "stdin", "the experiment"
  std::int64_t line = 0;     ///< from 1
  std::int64_t column = 0;   ///< from 1: the character of the line, or the column of a table
  std::string pointer = {};  ///< the JSON Pointer of a setting: "/train/epochs"
  std::string item = {};     ///< a named part of the file or the command line: "tensor 'readout.W'", "--rate"
  std::string excerpt = {};  ///< the text that is wrong, such as an equation
  /// The function that was called, shown if there is no file: "predict". For an excerpt, the operation in it:
  /// "@".
  std::string op = {};
};

/// The broken rule.
enum class Rule : std::uint8_t {
  other,          ///< a rule without a code; the statement describes it
  unknown_name,   ///< a key, a choice, a column, ... that does not exist
  missing,        ///< something that is required
  wrong_type,     ///< a value, or a file, of another kind than expected
  out_of_range,   ///< a number, a count or an index beyond its bounds
  not_finite,     ///< a number that is infinite or NaN
  conflict,       ///< two things, each valid, that do not go together
  shape,          ///< extents, widths or lengths that do not match
  syntax,         ///< a text that does not parse
  damaged,        ///< a file that is cut off or contradicts itself
  cannot_read,    ///< a file or folder that the system cannot read
  cannot_write,   ///< a file or folder that the system cannot write
  exists,         ///< a file or folder that would be overwritten
  in_use,         ///< a folder that another process writes to
  not_supported,  ///< a valid request that this model, file or build cannot fulfill
  no_memory,      ///< there is not enough memory
  diverged,       ///< training produced a non-finite number
  interrupted,    ///< a signal ended the work
};

std::string_view name_of(Rule rule);     ///< "unknown_name", ...
Rule rule_named(std::string_view name);  ///< Rule::other for an unknown name.

/// One error as data. Only `to_string` makes its text, and no code parses that.
struct Problem {
  Place place = {};
  Rule rule = Rule::other;
  /// A sentence about the error, if rule, found and expected do not suffice. For an unknown name, its kind:
  /// "key".
  std::string statement = {};
  std::string found = {};     ///< the value or text at that place
  std::string expected = {};  ///< the valid values; for an unknown name, the known names
  std::string hint = {};      ///< sentences with advice
  std::string nearest = {};   ///< the valid name that was probably meant

  /// The same problem inside a larger place, whose parts come first: the pointer "/units" inside
  /// "/model/layers/0". A problem in another file keeps its own place in its statement.
  Problem within(const Place& outer) const;
};

/// "runs.csv: line 3, column 2: expected a number, got 'x'".
std::string to_string(const Problem& problem);
/// One line per problem.
std::string to_string(const std::vector<Problem>& problems);
std::ostream& operator<<(std::ostream& stream, const Problem& problem);
/// The text without the place.
std::string message_of(const Problem& problem);

/// The entry of `known` nearest to `name`: by edit distance, else one that starts with the other; empty if none
/// is close enough to be a slip.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// "unknown KIND 'name'; did you mean 'nearest'? Known: a, b, c": the one text for unknown names.
Problem unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known);

}  // namespace lagtape
