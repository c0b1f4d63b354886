#include "lagtape/data/tasks/registry.h"

#include <algorithm>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/data/formats/file_tree.h"
#include "lagtape/data/formats/word_vectors.h"
#include "lagtape/data/formats/words.h"
#include "lagtape/data/splits.h"
#include "lagtape/data/stored_sequences.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kReviews = 25000, kLargestReview = 1 << 20, kUnknown = 1, kFirstWord = 2;

struct ImdbOptions {
  std::string path, vectors;
  std::int64_t words = 25000, length = 0;
  bool lower = true;
  std::int64_t train = kReviews, valid = 3750, test = kReviews;
};

/// A review's folder, from its name.
struct Place {
  bool known = false, learning = false;
  std::int32_t positive = 0;
};

/// Recognizes names like ".../train/pos/ID_RATING.txt".
Place place_in(std::string_view name) {
  if (!name.ends_with(".txt")) return {};
  auto last_part = [&] {
    const std::size_t slash = name.rfind('/');
    const std::string_view part = name.substr(slash == std::string_view::npos ? 0 : slash + 1);
    name = name.substr(0, slash == std::string_view::npos ? 0 : slash);
    return part;
  };
  last_part();
  const std::string_view folder_name = last_part(), part = last_part();
  const bool known = (folder_name == "pos" || folder_name == "neg") && (part == "train" || part == "test");
  return {.known = known, .learning = part == "train", .positive = folder_name == "pos"};
}

/// A review, with its words as numbers of WordCounts.
struct Review {
  std::string name;
  std::vector<std::int32_t> words;
};

/// The reviews in train/ or test/.
struct Part {
  std::vector<Review> reviews[2];  ///< negative, positive

  std::int64_t size() const { return static_cast<std::int64_t>(reviews[0].size() + reviews[1].size()); }

  /// Sorts the reviews by name, so the order in which they were read does not matter.
  void put_in_order() {
    for (auto& some : reviews) {
      std::sort(some.begin(), some.end(), [](const Review& a, const Review& b) { return a.name < b.name; });
    }
  }
};

struct Corpus {
  WordCounts words;
  Part learning, testing;
};

Corpus read_corpus(const fs::path& path, const ImdbOptions& options) {
  Corpus corpus;
  const FileWish wish{.wanted = [](std::string_view name) { return place_in(name).known; },
                      .largest = kLargestReview};
  read_files(path, wish, [&](const std::string& name, const std::string& text) {
    const Place place = place_in(name);
    Review review{.name = name.substr(name.rfind('/') + 1), .words = {}};
    for_each_word(text, options.lower, [&](std::string_view word) {
      const std::int32_t number = corpus.words.add(word, place.learning);
      if (options.length == 0 || static_cast<std::int64_t>(review.words.size()) < options.length) {
        review.words.push_back(number);
      }
    });
    if (review.words.empty())
      throw InputError({place_of(path, name)}, Rule::missing, "the review contains no word.");
    Part& part = place.learning ? corpus.learning : corpus.testing;
    part.reviews[place.positive].push_back(std::move(review));
  });
  for (const auto& [part, name] :
       {std::pair{&corpus.learning, "train"}, std::pair{&corpus.testing, "test"}}) {
    for (int positive : {0, 1}) {
      if (!part->reviews[positive].empty()) continue;
      throw InputError({path.string()}, Rule::missing,
                       text_of("no reviews in ", name, positive ? "/pos" : "/neg",
                               ". The task imdb reads ID_RATING.txt in train/pos, train/neg, test/pos and "
                               "test/neg, from the folder or archive data.path."));
    }
    part->put_in_order();
  }
  return corpus;
}

/// The reviews as tokens, alternating negative and positive ones. Each review is freed once it is converted.
std::shared_ptr<const StoredSequences> tokens_of(Part& part, const std::vector<std::int32_t>& token_of_word) {
  auto stored = std::make_shared<StoredSequences>();
  const std::size_t most = std::max(part.reviews[0].size(), part.reviews[1].size());
  for (std::size_t i = 0; i < most; ++i) {
    for (int positive : {0, 1}) {
      if (i >= part.reviews[positive].size()) continue;
      Review review = std::move(part.reviews[positive][i]);
      for (std::int32_t word : review.words) {
        stored->x.push_back(static_cast<float>(token_of_word[static_cast<std::size_t>(word)]));
      }
      stored->end_sequence();
      stored->classes.push_back(positive);
    }
  }
  return stored;
}

/// Reads the vectors of the words that have their own token; padding and unknown words become zeros.
KnownWords read_vectors(const fs::path& path, const std::vector<std::string>& words, Tensor& table) {
  for (std::int64_t i = 0; i < kFirstWord * table.size(1); ++i) table.set(i, 0);
  return {.known = read_word_vectors(path, words, kFirstWord, table),
          .all = static_cast<std::int64_t>(words.size())};
}

Task load_imdb(const ImdbOptions& options, const TaskContext& context) {
  const fs::path path = (context.base / options.path).lexically_normal();
  Corpus corpus = read_corpus(path, options);
  SplitIndices split = published_split({options.train, options.valid, options.test}, corpus.learning.size(),
                                       corpus.testing.size(), "reviews", path, context.seed);

  std::vector<std::int32_t> token_of_word(static_cast<std::size_t>(corpus.words.size()), kUnknown);
  std::vector<std::string> known;
  for (std::int32_t word : corpus.words.most_frequent(options.words)) {
    token_of_word[static_cast<std::size_t>(word)] = kFirstWord + static_cast<std::int32_t>(known.size());
    known.push_back(corpus.words.word(word));
  }
  const auto learning = tokens_of(corpus.learning, token_of_word);
  const auto testing = tokens_of(corpus.testing, token_of_word);
  const DataShape shape{.length = std::max(learning->longest(), testing->longest()),
                        .input = 1,
                        .classes = 2,
                        .tokens = kFirstWord + static_cast<std::int64_t>(known.size())};
  Task task{.shape = shape,
            .train = std::make_shared<StoredDataset>(shape, learning, std::move(split.train)),
            .valid = std::make_shared<StoredDataset>(shape, learning, std::move(split.valid)),
            .test = std::make_shared<StoredDataset>(shape, testing, std::move(split.test))};
  if (options.vectors.empty()) return task;
  task.read_vectors = [path = (context.base / options.vectors).lexically_normal(),
                       words = std::move(known)](Tensor& table) { return read_vectors(path, words, table); };
  return task;
}

void train_on_other_reviews(ImdbOptions& options) { options.train = kReviews - options.valid; }

constexpr Option kImdbRows[] = {
    required<&ImdbOptions::path>(
        "path", "folder or archive that contains train/ and test/, relative to the experiment file")
        .at_least_one(),
    option<&ImdbOptions::words>("words", between(1, 1e7),
                                "size of the vocabulary: the most frequent words of the training files"),
    option<&ImdbOptions::lower>("lower", "convert A-Z to a-z"),
    option<&ImdbOptions::length>("length", between(0, 1e7),
                                 "the first words of a review that are kept; 0: all"),
    option<&ImdbOptions::valid>("valid", between(0, kReviews - 1), "number of validation reviews"),
    option<&ImdbOptions::train>("train", between(1, kReviews),
                                "number of training reviews; by default all others")
        .after<train_on_other_reviews>(),
    option<&ImdbOptions::test>("test", between(0, kReviews),
                               "number of test reviews, negative and positive ones in turn"),
    option<&ImdbOptions::vectors>("vectors",
                                  "file of word vectors (GloVe) with which the embedding begins, relative to "
                                  "the experiment file; without it, the embedding is drawn")
        .open(),
};

TaskLoader read_imdb_task(JsonReader& reader, const TaskHints&) {
  ImdbOptions options;
  read_options(reader, kImdbRows, options);
  return {.load = std::bind_front(load_imdb, options)};
}

}  // namespace

/// Words of equal frequency are numbered in the order of their bytes; for_each_word cuts a text into words. The seed
/// splits the reviews of train/ at random into training and validation; the vocabulary comes from both.
constinit const TaskEntry kImdbTask = {
    .name = "imdb",
    .summary = "classify whether a film review is positive, word by word",
    .source = "Maas et al. 2011; protocols of UnICORNN and the tau-GRU paper",
    .equations =
        "x: the words of a review, as tokens; y: 1 for a positive review, 0 for a negative one\n"
        "tokens: 0 is padding, 1 any unknown word, 2, 3, ... the most frequent words of train/\n"
        "with `vectors`, the embedding begins with the vectors of that file, with N(0, 1) for words that it "
        "lacks\n"
        "and with zeros for tokens 0 and 1; all are trained except the padding's",
    .files =
        "aclImdb_v1.tar.gz from https://ai.stanford.edu/~amaas/data/sentiment/, packed or unpacked:\n"
        "84125825 bytes, MD5 7c2ac02c03563afcf9b574c7e56c153a\n"
        "vectors: glove.6B.zip from https://nlp.stanford.edu/projects/glove/, packed or unpacked, or one of "
        "its\n"
        "files glove.6B.{50,100,200,300}d.txt, plain or .gz: the vectors must be as long as the embedding "
        "has\n"
        "units; no checksum is known",
    .read = read_imdb_task,
};

}  // namespace lagtape
