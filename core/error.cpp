#include "lagtape/core/error.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours each cost one.
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

}  // namespace

void write_text(std::ostream& stream, const void* text) {
  stream << *static_cast<const std::string_view*>(text);
}

std::string joined_text(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // else a failed allocation would cut the text short
  for (const TextPart& part : parts) part.write(out, part.value);
  return std::move(out).str();
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestName = 100;  // computing the distance costs the product of the lengths
  constexpr std::size_t kMostNames = 2000;   // a file can have any number of names
  constexpr std::size_t kShortestPart = 4;   // a name this long may be the beginning of another
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

std::string unknown_name(std::string_view rule, std::string_view name,
                         const std::vector<std::string>& known) {
  std::string message = text_of("unknown ", rule, " ", quote(name));
  const std::string nearest = nearest_name(name, known);
  message += nearest.empty() ? "." : text_of("; did you mean ", quote(nearest), "?");
  return text_of(message, " Known: ", known.empty() ? "none" : listed(known));
}

}  // namespace lagtape
