#include "lagtape/data/formats/words.h"

#include <doctest/doctest.h>

using namespace lagtape;

namespace {

std::vector<std::string> words_of(std::string_view text, bool lower = false) {
  std::vector<std::string> words;
  for_each_word(text, lower, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("text is cut at blanks, and marks are words of their own") {
  CHECK(words_of("A good\tfilm, 10/10!\r\n") == Words{"A", "good", "film", ",", "10", "/", "10", "!"});
  CHECK(words_of(" \n ").empty());
  CHECK(words_of("").empty());
}

TEST_CASE("an apostrophe belongs to the word around it") {
  CHECK(words_of("don't") == Words{"don't"});
  CHECK(words_of("'quoted' dogs'") == Words{"'", "quoted", "'", "dogs", "'"});
  CHECK(words_of("a''b") == Words{"a", "'", "'", "b"});
}

TEST_CASE("a line break of HTML is blank") {
  CHECK(words_of("one<br /><br />two <br>") == Words{"one", "two", "<", "br", ">"});
}

TEST_CASE("bytes of other alphabets are letters, and only A-Z become small") {
  CHECK(words_of("Caf\xc3\x89 BAR", true) == Words{"caf\xc3\x89", "bar"});
}

TEST_CASE("words are ranked by count, then by their bytes") {
  WordCounts counts;
  for (const char* word : {"b", "never", "a", "b", "c", "a", "b"}) counts.add(word, *word != 'n');
  CHECK(counts.size() == 4);
  Words ranked;
  for (std::int32_t number : counts.most_frequent(9)) ranked.push_back(counts.word(number));
  CHECK(ranked == Words{"b", "a", "c"});
  CHECK(counts.most_frequent(1).size() == 1);
  CHECK(counts.add("never", 5) == 1);
  CHECK(counts.word(counts.most_frequent(1)[0]) == "never");
}
