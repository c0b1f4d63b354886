// A program that opens a plug-in, calls it, and closes it.

#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

namespace {

bool is_mapped(const std::string& file) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with(file)) return true;
  return false;
}

int complain(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
}

}  // namespace

int main(int, char** argv) {
  const std::string file = argv[1];
  void* plugin = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return complain(dlerror());
  if (!is_mapped(file)) return complain(file + " is not among the mapped files");
  const auto first_output = reinterpret_cast<double (*)(const char*)>(dlsym(plugin, "first_output"));
  if (!std::isfinite(first_output(argv[2]))) return complain("the plug-in's model does not predict");
  dlclose(plugin);
  return is_mapped(file) ? complain(file + " is still mapped after dlclose") : 0;
}
