#include "lagtape/data/series/like_names.h"

#include <cctype>
#include <unordered_map>

#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"

namespace lagtape {

namespace {

/// A name in lowercase without blanks.
std::string core_of(const std::string& name) {
  std::string core;
  for (const char c : name)
    if (c != ' ' && c != '\t') core += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return core;
}

}  // namespace

std::string LikeNames::note(const std::vector<std::string>& names) const {
  std::unordered_map<std::string, std::size_t> known;
  std::string pair;
  std::size_t alike = 0, with_both = 0, first_with_both = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [place, is_new] = known.try_emplace(core_of(names[i]), i);
    if (!is_new && alike++ == 0)
      pair = text_of(quote(names[place->second], 40), " and ", quote(names[i], 40));
    if (i < seen_.size() && seen_[i].with_blanks && seen_[i].without && with_both++ == 0) first_with_both = i;
  }
  std::string note;
  if (alike > 0)
    note = text_of(pair, " are two ", what_, ", whose names differ by capitals or blanks alone",
                   alike > 1 ? text_of(", and so do ", alike - 1, " more") : "");
  if (with_both > 0)
    note += text_of(note.empty() ? "" : "; ", "rows of ", quote(names[first_with_both], 40),
                    " with and without blanks around the name are one of the ", what_,
                    with_both > 1 ? text_of(", and so are those of ", with_both - 1, " more") : "");
  return note;
}

}  // namespace lagtape
