#include "lagtape/tests/data/support/sample_files.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <fstream>

namespace lagtape {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  static int count = 0;
  path_ = fs::temp_directory_path() / text_of("lagtape-data-test-", getpid(), "-", ++count);
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_sample(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string gzip(std::string_view bytes) {
  std::string packed(bytes.size() + 1024, '\0');
  std::size_t used = 0;
  archive* writer = archive_write_new();
  archive_write_add_filter_gzip(writer);
  archive_write_set_format_raw(writer);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, packed.data(), packed.size(), &used);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_header(writer, entry);
  archive_write_data(writer, bytes.data(), bytes.size());
  archive_entry_free(entry);
  archive_write_close(writer);
  archive_write_free(writer);
  packed.resize(used);
  return packed;
}

namespace {

std::string pack(const std::vector<std::pair<std::string, std::string>>& files, int (*set_format)(archive*)) {
  std::size_t size = 1 << 16, used = 0;
  for (const auto& [name, bytes] : files) size += bytes.size() + 4096;
  std::string packed(size, '\0');
  archive* writer = archive_write_new();
  set_format(writer);
  archive_write_open_memory(writer, packed.data(), packed.size(), &used);
  for (const auto& [name, bytes] : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    archive_write_header(writer, entry);
    archive_write_data(writer, bytes.data(), bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  packed.resize(used);
  return packed;
}

}  // namespace

std::string tar(const std::vector<std::pair<std::string, std::string>>& files) {
  return pack(files, archive_write_set_format_pax_restricted);
}

std::string zip(const std::vector<std::pair<std::string, std::string>>& files) {
  return pack(files, archive_write_set_format_zip);
}

void write_samples(const fs::path& folder, const std::vector<std::pair<std::string, std::string>>& files) {
  for (const auto& [name, bytes] : files) {
    fs::create_directories((folder / name).parent_path());
    write_sample(folder / name, bytes);
  }
}

std::string idx_bytes(const std::vector<std::uint32_t>& extents, std::string_view elements) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (std::uint32_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift & 0xff);
  }
  return bytes.append(elements);
}

void write_sample_mnist(const fs::path& folder, std::uint32_t train, std::uint32_t test, bool compressed) {
  auto write = [&](const std::string& name, const std::string& bytes) {
    write_sample(folder / (name + (compressed ? ".gz" : "")), compressed ? gzip(bytes) : bytes);
  };
  for (auto [part, count] : {std::pair{"train", train}, std::pair{"t10k", test}}) {
    std::string images, labels;
    for (std::int64_t n = 0; n < count; ++n) {
      labels += static_cast<char>(sample_label(n));
      for (std::int64_t k = 0; k < 784; ++k) images += static_cast<char>(sample_pixel(n, k));
    }
    write(part + std::string("-images-idx3-ubyte"), idx_bytes({count, 28, 28}, images));
    write(part + std::string("-labels-idx1-ubyte"), idx_bytes({count}, labels));
  }
}

}  // namespace lagtape
