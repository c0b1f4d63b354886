#include "lagtape/tools/train/files/npz.h"

#include <archive.h>
#include <archive_entry.h>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// The header of format 1.0: magic, version, its length, a Python dictionary, padded so that the data begin
/// at a multiple of 64.
std::string npy_header(const std::string& descr, const Shape& shape) {
  constexpr std::size_t kAlign = 64, kPrefix = 10;
  std::string sizes;
  for (const std::int64_t size : shape) sizes += text_of(size, shape.size() == 1 ? "," : ", ");
  std::string text = text_of("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", sizes, "), }");
  text.append(kAlign - 1 - (kPrefix + text.size()) % kAlign, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

/// The bytes of an element: the number behind the letter of its kind, four of which are a character of a text.
std::int64_t item_size(const std::string& descr) {
  return std::stoll(descr.substr(2)) * (descr[1] == 'U' ? 4 : 1);
}

la_ssize_t append(archive*, void* out, const void* bytes, std::size_t count) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

}  // namespace

struct NpzWriter::Implementation {
  std::string bytes;
  std::unique_ptr<archive, decltype(&archive_write_free)> writer{archive_write_new(), archive_write_free};

  void require(la_ssize_t result) const {
    if (result < 0)
      throw Error(text_of("[npz] cannot write the archive: ", archive_error_string(writer.get())));
  }
};

NpzWriter::NpzWriter() : implementation_(std::make_unique<Implementation>()) {
  archive* writer = implementation_->writer.get();
  implementation_->require(archive_write_set_format_zip(writer));
  implementation_->require(archive_write_set_options(writer, "zip:compression=deflate,zip:hdrcharset=UTF-8"));
  implementation_->require(archive_write_open(writer, &implementation_->bytes, nullptr, append, nullptr));
}

NpzWriter::~NpzWriter() = default;

void NpzWriter::begin(const std::string& name, const std::string& descr, const Shape& shape) {
  const std::string header = npy_header(descr, shape);
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                            archive_entry_free);
  archive_entry_set_pathname_utf8(entry.get(), (name + ".npy").c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  archive_entry_set_size(entry.get(),
                         static_cast<la_int64_t>(header.size()) + element_count(shape) * item_size(descr));
  implementation_->require(archive_write_header(implementation_->writer.get(), entry.get()));
  write(header.data(), header.size());
}

void NpzWriter::write(const void* bytes, std::size_t count) {
  const la_ssize_t written = archive_write_data(implementation_->writer.get(), bytes, count);
  implementation_->require(written);
  if (static_cast<std::size_t>(written) != count) throw Error("[npz] more bytes than the array's shape has.");
}

std::string NpzWriter::finish() {
  implementation_->require(archive_write_close(implementation_->writer.get()));
  return std::move(implementation_->bytes);
}

}  // namespace lagtape
