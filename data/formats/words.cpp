#include "lagtape/data/formats/words.h"

#include <algorithm>

namespace lagtape {

namespace {

constexpr std::string_view kLineBreak = "<br />";

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 128;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

/// The length in bytes of the word at the start of a text.
std::size_t word_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && (is_of_word(text[n]) ||
                             (text[n] == '\'' && n > 0 && n + 1 < text.size() && is_of_word(text[n + 1])))) {
    ++n;
  }
  return std::max<std::size_t>(n, 1);
}

}  // namespace

void for_each_word(std::string_view text, bool lower, const std::function<void(std::string_view)>& take) {
  std::string lowered;
  while (!text.empty()) {
    if (is_blank(text.front())) {
      text.remove_prefix(1);
    } else if (text.starts_with(kLineBreak)) {
      text.remove_prefix(kLineBreak.size());
    } else {
      const std::string_view word = text.substr(0, word_length(text));
      text.remove_prefix(word.size());
      if (!lower) {
        take(word);
        continue;
      }
      lowered.assign(word);
      for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      take(lowered);
    }
  }
}

std::int32_t WordCounts::add(std::string_view word, std::int64_t count) {
  auto found = numbers_.find(word);
  if (found == numbers_.end()) {
    found = numbers_.emplace(std::string(word), static_cast<std::int32_t>(words_.size())).first;
    words_.push_back(&found->first);
    counts_.push_back(0);
  }
  counts_[static_cast<std::size_t>(found->second)] += count;
  return found->second;
}

std::vector<std::int32_t> WordCounts::most_frequent(std::int64_t most) const {
  std::vector<std::int32_t> numbers;
  for (std::int32_t n = 0; n < size(); ++n) {
    if (counts_[static_cast<std::size_t>(n)] > 0) numbers.push_back(n);
  }
  std::sort(numbers.begin(), numbers.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int64_t often = counts_[static_cast<std::size_t>(a)],
                       rarer = counts_[static_cast<std::size_t>(b)];
    return often != rarer ? often > rarer : word(a) < word(b);
  });
  numbers.resize(std::min(numbers.size(), static_cast<std::size_t>(most)));
  return numbers;
}

}  // namespace lagtape
