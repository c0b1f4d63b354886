#include "lagtape/data/tasks/imdb.h"

#include <algorithm>
#include <numeric>

#include "lagtape/core/error.h"
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

/// Where a review lies, told by its name.
struct Place {
  bool known = false, learning = false;
  std::int32_t liked = 0;
};

/// ".../train/pos/ID_RATING.txt" and its like; anything else is not known.
Place place_in(std::string_view name) {
  if (!name.ends_with(".txt")) return {};
  auto last_part = [&] {
    const std::size_t slash = name.rfind('/');
    const std::string_view part = name.substr(slash == std::string_view::npos ? 0 : slash + 1);
    name = name.substr(0, slash == std::string_view::npos ? 0 : slash);
    return part;
  };
  last_part();
  const std::string_view liking = last_part(), part = last_part();
  const bool known = (liking == "pos" || liking == "neg") && (part == "train" || part == "test");
  return {.known = known, .learning = part == "train", .liked = liking == "pos"};
}

/// A review as numbers of words in the order of their first appearance.
struct Review {
  std::string name;
  std::vector<std::int32_t> words;
};

/// The reviews of train/ or test/.
struct Part {
  std::vector<Review> reviews[2];  ///< disliked, liked

  std::int64_t size() const { return static_cast<std::int64_t>(reviews[0].size() + reviews[1].size()); }

  /// Disliked and liked in turn, each in the order of its names, whatever order they were read in.
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
    if (review.words.empty()) throw InputError(text_of(place_of(path, name), ": a review without a word."));
    Part& part = place.learning ? corpus.learning : corpus.testing;
    part.reviews[place.liked].push_back(std::move(review));
  });
  for (const auto& [part, name] :
       {std::pair{&corpus.learning, "train"}, std::pair{&corpus.testing, "test"}}) {
    for (int liked : {0, 1}) {
      if (!part->reviews[liked].empty()) continue;
      throw InputError(text_of(path.string(), ": no reviews in ", name, liked ? "/pos" : "/neg",
                               ". The task imdb reads ID_RATING.txt in train/pos, train/neg, test/pos and ",
                               "test/neg, from the folder or archive data.path."));
    }
    part->put_in_order();
  }
  return corpus;
}

/// The reviews as tokens, disliked and liked in turn; memory is given back as it goes.
std::shared_ptr<const StoredSequences> tokens_of(Part& part, const std::vector<std::int32_t>& token_of_word) {
  auto stored = std::make_shared<StoredSequences>();
  const std::size_t most = std::max(part.reviews[0].size(), part.reviews[1].size());
  for (std::size_t i = 0; i < most; ++i) {
    for (int liked : {0, 1}) {
      if (i >= part.reviews[liked].size()) continue;
      Review review = std::move(part.reviews[liked][i]);
      for (std::int32_t word : review.words) {
        stored->x.push_back(static_cast<float>(token_of_word[static_cast<std::size_t>(word)]));
      }
      stored->end_sequence();
      stored->classes.push_back(liked);
    }
  }
  return stored;
}

void require_reviews(std::int64_t wanted, const Part& part, const fs::path& path, const char* splits) {
  if (wanted <= part.size()) return;
  throw InputError(text_of(path.string(), ": holds ", part.size(), " reviews for ", splits,
                           ", expected at least ", wanted, "."));
}

/// Vectors of the words that are known by a number, and zeros for padding and unknown words.
KnownWords read_vectors(const fs::path& path, const std::vector<std::string>& words, Tensor& table) {
  for (std::int64_t i = 0; i < kFirstWord * table.size(1); ++i) table.set(i, 0);
  return {.known = read_word_vectors(path, words, kFirstWord, table),
          .all = static_cast<std::int64_t>(words.size())};
}

Task load_imdb(const ImdbOptions& options, const TaskContext& context) {
  const fs::path path = (context.base / options.path).lexically_normal();
  Corpus corpus = read_corpus(path, options);
  require_reviews(options.train + options.valid, corpus.learning, path, "train and valid");
  require_reviews(options.test, corpus.testing, path, "test");

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
                        .output = 0,
                        .classes = 2,
                        .every_step = false,
                        .tokens = kFirstWord + static_cast<std::int64_t>(known.size())};
  SplitIndices split = random_split(learning->size(), options.train, options.valid, 0, context.seed);
  Task task{.shape = shape,
            .train = std::make_shared<StoredDataset>(shape, learning, std::move(split.train)),
            .valid = std::make_shared<StoredDataset>(shape, learning, std::move(split.valid)),
            .test = std::make_shared<StoredDataset>(shape, testing, in_order(options.test)),
            .fresh = false,
            .normalization = {}};
  if (options.vectors.empty()) return task;
  task.read_vectors = [path = (context.base / options.vectors).lexically_normal(),
                       words = std::move(known)](Tensor& table) { return read_vectors(path, words, table); };
  return task;
}

}  // namespace

TaskLoader read_imdb(JsonReader& reader, const TaskHints&) {
  ImdbOptions options;
  reader.required("path", options.path,
                  "folder or archive with train and test, relative to the experiment file");
  reader.optional("words", options.words, between(1, 1e7),
                  "words known by a number of their own, the most frequent of training");
  reader.optional("lower", options.lower, "A-Z read as a-z");
  reader.optional("length", options.length, between(0, 1e7),
                  "words of a review that are kept, from its first; 0: all");
  reader.optional("valid", options.valid, between(0, kReviews - 1), "validation reviews");
  options.train = kReviews - options.valid;
  reader.optional("train", options.train, between(1, kReviews),
                  "training reviews; by default all the others");
  reader.optional("test", options.test, between(0, kReviews),
                  "test reviews, disliked and liked in turn, from the first");
  constexpr const char* kVectors =
      "file of word vectors to begin with (GloVe), relative to the experiment file; without: drawn";
  if (reader.has("vectors")) {
    reader.required("vectors", options.vectors, kVectors);
  } else {
    reader.raw("vectors", kVectors, "string", "none");
  }
  TaskLoader plan;
  plan.load = [options](const TaskContext& context) { return load_imdb(options, context); };
  return plan;
}

}  // namespace lagtape
