#pragma once

#include <filesystem>
#include <string>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// A TensorBoard event file: protocol buffer records (tensorflow.Event), each with a CRC-32C of its length and
/// of its bytes. Rows of metrics.jsonl become scalars at their steps.
class EventFile {
 public:
  /// Rewrites RUN/events.out.tfevents.0.lagtape with the rows in `rows`, one per line. Throws as
  /// write_file_atomically does, and InputError for a link.
  EventFile(const std::filesystem::path& run, const std::string& rows);

  /// Appends a row.
  void append(const Json& row) const;

 private:
  std::filesystem::path path_;
};

}  // namespace lagtape
