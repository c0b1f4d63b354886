/* A program that opens plug-ins, calls each, and closes them: HOST MODEL PLUGIN... The first is of version 1, the next of 2. */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_mapped(const char *file) {
  char line[4096];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) found |= strstr(line, file) != NULL;
  fclose(maps);
  return found;
}

static int complain(const char *file, const char *what) {
  fprintf(stderr, "%s: %s\n", file, what);
  return 1;
}

int main(int count, char **arguments) {
  void *plugins[8];
  double outputs[8];
  for (int i = 2; i < count && i < 8; ++i) {
    const char *file = arguments[i];
    plugins[i] = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (plugins[i] == NULL) return complain(file, dlerror());
    if (!is_mapped(file)) return complain(file, "is not among the mapped files");
    double (*first_output)(const char *);
    int (*plugin_version)(void);
    *(void **)&first_output = dlsym(plugins[i], "first_output");
    *(void **)&plugin_version = dlsym(plugins[i], "plugin_version");
    outputs[i] = first_output(arguments[1]);
    if (!isfinite(outputs[i]) || outputs[i] != outputs[2]) return complain(file, "the model does not predict");
    if (plugin_version() != i - 1) return complain(file, "calls another version of lagtape");
  }
  for (int i = 2; i < count && i < 8; ++i) dlclose(plugins[i]);
  for (int i = 2; i < count && i < 8; ++i)
    if (is_mapped(arguments[i])) return complain(arguments[i], "is still mapped after dlclose");
  return 0;
}
