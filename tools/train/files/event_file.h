#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// A file of events as TensorBoard reads it: records of protocol buffers (tensorflow.Event), each with a CRC-32C of
/// its length and of its bytes. Rows of metrics.jsonl become scalars of their steps.
class EventFile {
 public:
  /// Begins the file RUN/events.out.tfevents.0.lagtape anew, with the rows that there are in `rows`, a line each.
  /// Throws as write_file_atomically does, and InputError for a link.
  EventFile(const std::filesystem::path& run, const std::string& rows);

  /// Appends a row.
  void append(const Json& row) const;

 private:
  std::filesystem::path path_;
};

/// The bytes of a record. `wall_time`: seconds since 1970.
std::string event_record(const Json& row, double wall_time);

/// The CRC-32C (Castagnoli) of some bytes.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace lagtape
