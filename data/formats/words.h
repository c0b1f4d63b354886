#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lagtape {

/// Cuts a text into words by simple rules: a word is a run of letters, digits and bytes of other alphabets (128
/// and above), and may have an apostrophe inside ("don't" is one word); every other nonblank character is its
/// own word; the tag "<br />" counts as a blank. With `lower`, A-Z become a-z.
void for_each_word(std::string_view text, bool lower, const std::function<void(std::string_view)>& take);

/// Counts of words, which are numbered from 0 in the order of their first appearance.
class WordCounts {
 public:
  /// Adds to the count of a word, and returns its number.
  std::int32_t add(std::string_view word, std::int64_t count = 1);

  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  const std::string& word(std::int32_t number) const { return *words_[static_cast<std::size_t>(number)]; }

  /// The numbers of the `most` most frequent words, most frequent first, ties in byte order; words with a count
  /// of 0 are left out.
  std::vector<std::int32_t> most_frequent(std::int64_t most) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> words_;
  std::vector<std::int64_t> counts_;
};

}  // namespace lagtape
