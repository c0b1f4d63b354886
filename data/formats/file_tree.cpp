#include "lagtape/data/formats/file_tree.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/gzip.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

using Take = std::function<void(const std::string&, std::string)>;
using Wanted = std::function<bool(std::string_view)>;
using Block = std::function<void(std::string_view)>;
using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;
/// Visits an entry and returns whether to continue.
using Visit = std::function<bool(archive*, archive_entry*, const std::string& name)>;

Archive new_archive() { return {archive_read_new(), archive_read_free}; }

constexpr std::size_t kBlock = 1 << 16;

[[noreturn]] void refuse(const fs::path& path, archive* reader) {
  const char* reason = archive_error_string(reader);
  throw InputError({path.string()}, Rule::damaged,
                   text_of("not a sound tar or zip archive: ", reason != nullptr ? reason : "damaged", "."));
}

void check_size(const fs::path& path, const std::string& name, std::int64_t size, const FileWish& wish) {
  if (size <= wish.largest) return;
  throw unexpected({place_of(path, name)}, Rule::out_of_range, text_of("at most ", wish.largest, " bytes"),
                   text_of(size));
}

/// The content of a gzip file, block by block, as input for libarchive.
class Unpacked {
 public:
  explicit Unpacked(const fs::path& path) : path_(path), file_(path, std::ios::binary) {}

  /// Reads to the end of the file, so its checksum is verified.
  void check() {
    while (!reader_.next().empty()) {
    }
    if (!reader_.error().empty())
      throw InputError({path_.string()}, Rule::damaged,
                       text_of("not a sound gzip file: ", reader_.error(), "."));
  }

  static la_ssize_t callback(archive* outer, void* self, const void** bytes) {
    GzipReader& reader = static_cast<Unpacked*>(self)->reader_;
    const std::string_view block = reader.next();
    *bytes = block.data();
    if (!block.empty() || reader.error().empty()) return static_cast<la_ssize_t>(block.size());
    archive_set_error(outer, EIO, "%s", reader.error().c_str());
    return -1;
  }

 private:
  const fs::path& path_;
  std::ifstream file_;
  std::array<char, kBlock> packed_;
  GzipReader reader_ = GzipReader([this] {
    file_.read(packed_.data(), packed_.size());
    return std::string_view(packed_.data(), static_cast<std::size_t>(file_.gcount()));
  });
};

void for_each_block(const fs::path& path, archive* reader, const Block& take) {
  std::array<char, kBlock> block;
  for (;;) {
    const la_ssize_t got = archive_read_data(reader, block.data(), block.size());
    if (got < 0) refuse(path, reader);
    if (got == 0) return;
    take({block.data(), static_cast<std::size_t>(got)});
  }
}

std::string content_of(const fs::path& path, archive* reader, const std::string& name, const FileWish& wish) {
  std::string content;
  std::optional<std::uint64_t> expected;
  for_each_block(path, reader, [&](std::string_view block) {
    content.append(block);
    check_size(path, name, static_cast<std::int64_t>(content.size()), wish);
    if (wish.size && !expected) expected = wish.size(name, content);
    if (expected && content.size() > *expected)
      throw InputError({place_of(path, name)}, Rule::damaged,
                       text_of("has more than the ", *expected, " bytes of which its header speaks."));
  });
  return content;
}

/// Visits the files of an archive until `visit` returns false.
void visit_entries(const fs::path& path, archive* reader, const Visit& visit) {
  archive_entry* entry = nullptr;
  for (;;) {
    const int found = archive_read_next_header(reader, &entry);
    if (found == ARCHIVE_EOF) return;
    if (found != ARCHIVE_OK) refuse(path, reader);
    const char* utf8 = archive_entry_pathname(entry);
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    if (!visit(reader, entry, utf8 != nullptr ? utf8 : "")) return;
  }
}

void visit_archive(const fs::path& path, Archive reader, const Visit& visit) {
  std::string magic(2, '\0');
  std::ifstream(path, std::ios::binary).read(magic.data(), 2);
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  if (is_gzip(magic)) {
    Unpacked unpacked(path);
    if (archive_read_open(reader.get(), &unpacked, nullptr, Unpacked::callback, nullptr) != ARCHIVE_OK) {
      refuse(path, reader.get());
    }
    visit_entries(path, reader.get(), visit);
    unpacked.check();
  } else {
    if (archive_read_open_filename(reader.get(), path.c_str(), kBlock) != ARCHIVE_OK)
      refuse(path, reader.get());
    visit_entries(path, reader.get(), visit);
  }
}

void read_archive(const fs::path& path, const FileWish& wish, const Take& take) {
  visit_archive(path, new_archive(), [&](archive* reader, archive_entry* entry, const std::string& name) {
    if (!wish.wanted(name)) return true;
    if (archive_entry_size_is_set(entry)) check_size(path, name, archive_entry_size(entry), wish);
    take(name, content_of(path, reader, name, wish));
    return true;
  });
}

/// Adds the names of the wanted files in a folder below `path`, and recursively in its folders that are not
/// links.
void add_names(const fs::path& path, const std::string& below, const Wanted& wanted,
               std::vector<std::string>& names) {
  std::error_code error;
  const fs::path folder = below.empty() ? path : path / below;
  const std::vector<std::string> entries = entries_of(folder, error);
  if (error)
    throw InputError({folder.string()}, Rule::cannot_read, text_of("cannot read: ", error.message(), "."));
  for (const std::string& entry : entries) {
    std::string name = below.empty() ? entry : text_of(below, "/", entry);
    if (fs::is_directory(fs::symlink_status(path / name, error))) {
      add_names(path, name, wanted, names);
    } else if (wanted(name) && fs::is_regular_file(path / name, error)) {
      names.push_back(std::move(name));
    }
  }
}

/// The names of the wanted files below a folder, sorted.
std::vector<std::string> names_in(const fs::path& path, const Wanted& wanted) {
  std::vector<std::string> names;
  add_names(path, "", wanted, names);
  std::sort(names.begin(), names.end());
  return names;
}

void read_folder(const fs::path& path, const FileWish& wish, const Take& take) {
  std::error_code error;
  for (const std::string& name : names_in(path, wish.wanted)) {
    check_size(path, name, static_cast<std::int64_t>(fs::file_size(path / name, error)), wish);
    take(name, read_file(path / name));
  }
}

/// Throws InputError if there is neither a folder nor a file.
bool is_folder(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    throw InputError({path.string()}, Rule::missing, "no such file or folder", {},
                     "`lagtape list tasks NAME` describes the files of a task and where they come from.");
  if (!fs::is_directory(status) && !fs::is_regular_file(status))
    throw InputError({path.string()}, Rule::wrong_type, "neither a folder nor a file.");
  return fs::is_directory(status);
}

}  // namespace

std::string place_of(const fs::path& path, std::string_view name) {
  return text_of(path.string(), ": ", shortened(name, 200));
}

void read_files(const fs::path& path, const FileWish& wish, const Take& take) {
  is_folder(path) ? read_folder(path, wish, take) : read_archive(path, wish, take);
}

bool stream_file(const fs::path& path, const Wanted& wanted,
                 const std::function<void(const std::string&, std::string_view)>& take) {
  if (is_folder(path)) {
    const std::vector<std::string> names = names_in(path, wanted);
    if (names.empty()) return false;
    return stream_file(path / names.front(), wanted,
                       [&](const std::string&, std::string_view piece) { take(names.front(), piece); });
  }
  Archive reader = new_archive();
  archive_read_support_format_raw(reader.get());  // a file that is not an archive is read directly
  archive_read_support_format_empty(reader.get());
  bool any = false, found = false;
  visit_archive(path, std::move(reader), [&](archive* from, archive_entry*, const std::string& name) {
    const bool alone = archive_format(from) == ARCHIVE_FORMAT_RAW;
    any = true;
    found = alone || wanted(name);
    if (found) for_each_block(path, from, [&](std::string_view piece) { take(alone ? "" : name, piece); });
    return !found;
  });
  return found || !any;
}

}  // namespace lagtape
