#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {

/// A folder that exists until the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_sample(const std::filesystem::path& path, std::string_view bytes);

/// The bytes as a gzip file.
std::string gzip(std::string_view bytes);

/// A tar archive of files with these names and contents.
std::string tar(const std::vector<std::pair<std::string, std::string>>& files);
/// A zip archive of such files.
std::string zip(const std::vector<std::pair<std::string, std::string>>& files);
/// Writes such files below a folder.
void write_samples(const std::filesystem::path& folder,
                   const std::vector<std::pair<std::string, std::string>>& files);

/// The bytes of an IDX file.
std::string idx_bytes(const std::vector<std::uint32_t>& extents, std::string_view elements);

/// Pixel k of sample digit n, and its label.
inline std::uint8_t sample_pixel(std::int64_t n, std::int64_t k) {
  return static_cast<std::uint8_t>((7 * n + k) % 256);
}
inline std::uint8_t sample_label(std::int64_t n) { return static_cast<std::uint8_t>(3 * n % 10); }

/// Writes the four files of MNIST with the given numbers of sample digits. Both parts begin with the same
/// digits.
void write_sample_mnist(const std::filesystem::path& folder, std::uint32_t train, std::uint32_t test,
                        bool compressed);

/// The message of the InputError that a call throws; empty when it throws none.
template <class F>
std::string input_error_of(F&& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace lagtape
