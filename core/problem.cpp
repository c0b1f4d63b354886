#include "lagtape/core/problem.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"

namespace lagtape {
namespace {

/// The names of the rules, in order.
constexpr std::array<std::string_view, 18> kRules = {
    "other",    "unknown_name", "missing",       "wrong_type", "out_of_range", "not_finite",
    "conflict", "shape",        "syntax",        "damaged",    "cannot_read",  "cannot_write",
    "exists",   "in_use",       "not_supported", "no_memory",  "diverged",     "interrupted"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbors each cost one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

/// "line 3, column 5 (temperature): ", "equation 3, column 5: ", "tensor 'W': "
std::string text_of_position(const Place& place) {
  std::string text = place.line > 0 ? text_of("line ", place.line) : place.item;
  if (place.column > 0) text += text_of(text.empty() ? "" : ", ", "column ", place.column);
  if (place.line > 0 && !place.item.empty()) text += text_of(" (", place.item, ")");
  return text.empty() ? text : text + ": ";
}

std::string text_of_unknown_name(const Problem& problem) {
  const std::string& nearest = problem.nearest;
  std::string text = text_of("unknown ", problem.statement, " ", quote(problem.found));
  text += nearest.empty()
              ? "."
              : text_of("; did you mean ", nearest.starts_with('/') ? nearest : quote(nearest), "?");
  return problem.expected.empty() ? text : text_of(text, " Known: ", problem.expected);
}

}  // namespace

std::string_view name_of(Rule rule) { return kRules.at(static_cast<std::size_t>(rule)); }

Rule rule_named(std::string_view name) {
  const auto found = std::ranges::find(kRules, name);
  return found == kRules.end() ? Rule::other : static_cast<Rule>(found - kRules.begin());
}

Problem Problem::within(const Place& outer) const {
  Problem problem = *this;
  Place& inner = problem.place;
  const bool is_at_column = inner.column > 0;  // then `op` is the operation at that column
  if (!outer.file.empty() && !inner.file.empty())
    return {.place = outer, .rule = rule, .statement = to_string(*this), .nearest = nearest};
  if (inner.file.empty()) inner.file = outer.file;
  if (inner.line == 0 && inner.column == 0)
    std::tie(inner.line, inner.column) = std::tie(outer.line, outer.column);
  inner.pointer = outer.pointer + inner.pointer;
  if (!outer.item.empty())
    inner.item = inner.item.empty() ? outer.item : text_of(outer.item, ": ", inner.item);
  if (inner.excerpt.empty()) inner.excerpt = outer.excerpt;
  if (!is_at_column || inner.op.empty()) inner.op = outer.op;
  return problem;
}

std::string message_of(const Problem& problem) {
  const auto& [place, rule, statement, found, expected, hint, nearest] = problem;
  std::string text;
  if (rule == Rule::unknown_name && !(found.empty() && expected.empty())) {
    text = text_of_unknown_name(problem);
  } else if (statement.empty() && (rule != Rule::missing || !found.empty())) {
    text = text_of("expected ", expected, found.empty() ? "" : ", got ", found);
  } else {
    text = statement.empty() ? "is missing" : statement;
    if (!expected.empty()) text += ", expected " + expected;
    if (!found.empty()) text += text_of(". Got ", found, ".");
  }
  const auto add_sentence = [&](const std::string& sentence) {
    if (!sentence.empty()) text += text_of(text.ends_with('.') || text.ends_with('?') ? " " : ". ", sentence);
  };
  add_sentence(hint);
  if (!place.excerpt.empty()) add_sentence("In: " + place.excerpt);
  return printable(text);
}

std::string to_string(const Problem& problem) {
  constexpr std::size_t kLongestPointer = 200;
  const Place& place = problem.place;
  std::string text = place.file.empty() ? "" : place.file + ": ";
  const std::string op = place.op.empty() ? "" : text_of("[", place.op, "] ");
  if (place.file.empty() && place.column == 0) text = op;
  // Without a file, the item names the target of the pointer.
  if (!place.pointer.empty() && (!place.file.empty() || place.item.empty()))
    text += shortened(place.pointer, kLongestPointer) + ": ";
  return text_of(printable(text + text_of_position(place)), place.column == 0 ? "" : op, message_of(problem));
}

std::string to_string(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += text_of(text.empty() ? "" : "\n", problem);
  return text;
}

std::ostream& operator<<(std::ostream& stream, const Problem& problem) {
  return stream << to_string(problem);
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestName = 100;  // computing the distance costs the product of the lengths
  constexpr std::size_t kMostNames = 2000;   // a file can have any number of names
  constexpr std::size_t kShortestPart = 4;   // a name this long may be the start of another
  if (name.size() > kLongestName || known.size() > kMostNames) return {};
  std::string nearest;
  std::size_t smallest = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t insertions = longer - std::min(name.size(), candidate.size());
    if (candidate.size() > kLongestName || insertions >= smallest) continue;
    const std::size_t distance = edit_distance(lower(name), lower(candidate));
    if (distance < smallest && distance < longer) {
      smallest = distance;
      nearest = candidate;
    }
  }
  if (!nearest.empty() || name.size() < kShortestPart) return nearest;
  const auto begins = [&](const std::string& candidate) {
    const std::size_t shorter = std::min(candidate.size(), name.size());
    return shorter >= kShortestPart && lower(candidate).substr(0, shorter) == lower(name.substr(0, shorter));
  };
  const auto found = std::find_if(known.begin(), known.end(), begins);
  return found == known.end() ? nearest : *found;
}

Problem unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
  return {.rule = Rule::unknown_name,
          .statement = std::string(kind),
          .found = std::string(name),
          .expected = known.empty() ? "none" : listed(known),
          .nearest = nearest_name(name, known)};
}

}  // namespace lagtape
