#include <doctest/doctest.h>

#include <functional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/tests/cells/support/cell_row.h"
#include "lagtape/tools/exchange/files/hdf5.h"
#include "lagtape/tools/exchange/files/json_tensor.h"
#include "lagtape/tools/exchange/files/pickle.h"
#include "lagtape/tools/exchange/files/stored_zip.h"
#include "lagtape/tools/exchange/files/torch_archive.h"

// Containers that import/golden/make_loops.py and make_keras.py wrote with PyTorch and Keras.

namespace lagtape::foreign {
namespace {

std::string golden(const std::string& name) {
  return read_file(test::source_folder() / "tests/tools/exchange/import/golden" / name);
}

/// The message of what a function throws; empty where it throws nothing.
std::string message_of_error(const std::function<void()>& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// How many of the damaged copies are refused, of those cut off at every `step` bytes and those with a byte flipped there.
std::pair<int, int> refused(const std::string& bytes, std::size_t step,
                            const std::function<void(std::string_view)>& read) {
  int cuts = 0, flips = 0;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const std::string cut = bytes.substr(0, at);
    cuts += message_of_error([&] { read(cut); }).empty() ? 0 : 1;
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xFF);
    flips += message_of_error([&] { read(flipped); }).empty() ? 0 : 1;
  }
  return {cuts, flips};
}

TEST_CASE("a checkpoint of PyTorch gives its state_dict in the order in which the model defines it") {
  std::vector<std::string> notes;
  const std::vector<NamedTensor> tensors = read_torch_archive(golden("checkpoint.pt"), "c", notes);
  REQUIRE(tensors.size() == 6);
  CHECK(tensors[0].name == "head.weight");
  CHECK(tensors[0].tensor.shape() == Shape{2, 4});
  CHECK(tensors[2].name == "rnn.weight_ih_l0");
  CHECK(tensors[2].tensor.at(5) != 0);
  CHECK(notes == std::vector<std::string>{"The file is a checkpoint. The model has its entry 'model'."});
}

TEST_CASE("arrays of an HDF5 file have their paths, and what is no real number is left out") {
  const std::string archive = golden("keras_layers.keras");
  const auto entries = stored_entries(archive, "k");
  const auto arrays = read_hdf5(entries.at("model.weights.h5"), "k");
  REQUIRE(arrays.contains("layers/lstm/cell/vars/1"));
  CHECK(arrays.at("layers/lstm/cell/vars/1").shape() == Shape{2, 8});
  CHECK(arrays.contains("layers/bidirectional/backward_layer/cell/vars/2"));
  CHECK_FALSE(arrays.contains("layers/dropout/seed_generator/vars/0"));
}

TEST_CASE("damaged archives are refused, or read") {
  std::vector<std::string> notes;
  const std::string checkpoint = golden("checkpoint.pt");
  const auto [cuts, flips] =
      refused(checkpoint, 7, [&](std::string_view bytes) { read_torch_archive(bytes, "c", notes); });
  CHECK(cuts == static_cast<int>((checkpoint.size() + 6) / 7));
  CHECK(flips > 100);
  const std::string archive = golden("keras_layers.keras");
  const std::string weights(stored_entries(archive, "k").at("model.weights.h5"));
  const auto [cut, flipped] = refused(weights, 211, [&](std::string_view bytes) { read_hdf5(bytes, "k"); });
  CHECK(cut > 100);
  CHECK(flipped > 5);
}

TEST_CASE("an entry whose checksum differs is named") {
  std::string bytes = golden("checkpoint.pt");
  const std::size_t data = bytes.find("epoch");
  bytes[data] = 'E';
  CHECK(message_of_error([&] { stored_entries(bytes, "c"); }) ==
        "c: entry 'checkpoint/data.pkl': is damaged: its checksum differs.");
}

TEST_CASE("a pickled program calls nothing, and its objects may be part of themselves") {
  std::deque<PickledValue> values;
  using namespace std::string_view_literals;
  const Pickled call = read_pickle("\x80\2cos\nsystem\nX\2\0\0\0ls\x85R."sv, values, "p");
  CHECK(call->kind == PickledValue::Kind::call);
  CHECK(call->text == "os system");
  CHECK(call->items[0]->items[0]->text == "ls");
  const Pickled itself = read_pickle("]q\1h\1a.", values, "p");
  CHECK(itself->items[0] == itself);
  CHECK(message_of_error([&] { read_pickle("(.", values, "p"); }).starts_with("p: is damaged"));
  CHECK(message_of_error([&] { read_pickle("i.", values, "p"); }) ==
        "p: the pickled program has the instruction 105, which is not read.");
}

TEST_CASE("arrays of JSON become tensors, all rows of one length") {
  CHECK(tensor_of(Json::array({Json::array({1, 2}), Json::array({3, 4})}), {"j"}).shape() == Shape{2, 2});
  CHECK_THROWS_AS(tensor_of(Json::array({Json::array({1, 2}), Json::array({3})}), {"j"}), InputError);
}

}  // namespace
}  // namespace lagtape::foreign
