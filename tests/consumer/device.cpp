// Runs a model on a small device: reads inputs from standard input, as numbers of the model's precision, and
// writes its outputs in the same way. With `predict` all steps are computed at once, else one after the other.
// usage: device MODEL [predict] < IN > OUT

#include <lagtape/cells/models/model.h>
#include <lagtape/core/error.h>
#include <lagtape/core/thread_pool.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

template <class T>
bool read(std::vector<T>& numbers) {
  const auto bytes = static_cast<std::streamsize>(numbers.size() * sizeof(T));
  return static_cast<bool>(std::cin.read(reinterpret_cast<char*>(numbers.data()), bytes));
}

template <class T>
void write(const T* numbers, std::int64_t count) {
  std::cout.write(reinterpret_cast<const char*>(numbers), count * static_cast<std::streamsize>(sizeof(T)));
}

template <class T>
void stream(const lagtape::Model& model) {
  const lagtape::FlushSubnormals flush;  // once for all steps
  lagtape::Stream<T> stream = model.stream<T>();
  std::vector<T> in(model.input_width()), out(model.output_width());
  while (read(in)) {
    stream.step(in.data(), out.data());
    write(out.data(), model.output_width());
  }
}

template <class T>
void predict(const lagtape::Model& model) {
  std::vector<T> step(model.input_width()), all;
  while (read(step)) std::ranges::copy(step, std::back_inserter(all));
  lagtape::Tensor x({static_cast<std::int64_t>(all.size() / step.size()), model.input_width()},
                    model.dtype());
  std::ranges::copy(all, x.values<T>().begin());
  const lagtape::Tensor y = model.predict(x);
  write(y.values<T>().data(), y.numel());
}

template <class T>
void run(const lagtape::Model& model, bool at_once) {
  at_once ? predict<T>(model) : stream<T>(model);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2 || (count > 2 && arguments[2] != std::string("predict"))) {
    std::cerr << "usage: device MODEL [predict] < IN > OUT\n";
    return 2;
  }
  const lagtape::Model model = lagtape::Model::load(arguments[1]);
  const bool is_double = model.dtype() == lagtape::Dtype::f64;
  is_double ? run<double>(model, count > 2) : run<float>(model, count > 2);
} catch (const lagtape::Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
