#pragma once

#include <string>
#include <vector>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

namespace lagtape {

using Values = std::vector<double>;

/// A task on own.csv of the given text, whose rows all train.
struct Own {
  explicit Own(const std::string& text) { write_sample(folder.path() / "own.csv", text); }
  Task task(const std::string& more, const std::string& path = "own.csv") const {
    return load(text_of(R"({"task": "series", "path": ")", path,
                        R"(", "train": 1, "valid": 0, "test": 0, "normalize": false, )", more, "}"),
                0, folder.path());
  }
  /// The inputs of all windows of one step: the rows of the recording but the last of each stretch.
  Values inputs(const std::string& more) const {
    const Task one = task(text_of(R"("window": 1, "stride": 1, )", more));
    return values_of(take(*one.train, 0, one.train->size()).x);
  }
  std::string message(const std::string& more) const {
    return input_error_of([&] { task(text_of(R"("window": 1, )", more)); });
  }
  TemporaryFolder folder;
};

}  // namespace lagtape
