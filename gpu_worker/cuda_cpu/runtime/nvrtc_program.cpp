// Run in the compile sandbox: NVRTC on one source, for what it says of registers.
//
//   nvrtc_program <libnvrtc> <source> <names, one a line> <answer> <option>...
//
// The answer holds the compiled name of each kernel, a line each, an empty line, and the log.
#include <cstdio>
#include <dlfcn.h>
#include <string>
#include <vector>

static std::string read_file(const char *path) {
  std::string text;
  FILE *file = fopen(path, "rb");
  if (!file) return text;
  char piece[65536];
  for (size_t count; (count = fread(piece, 1, sizeof piece, file)) > 0;) text.append(piece, count);
  fclose(file);
  return text;
}

template <class... A>
static int call(void *library, const char *name, A... arguments) {
  auto *function = reinterpret_cast<int (*)(A...)>(dlsym(library, name));
  return function ? function(arguments...) : -1;
}

int main(int count, char **words) {
  if (count < 5) return 2;
  void *library = dlopen(words[1], RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  const std::string source = read_file(words[2]);
  std::vector<std::string> names(1);
  for (char letter : read_file(words[3])) {
    if (letter == '\n') names.emplace_back();
    else names.back() += letter;
  }
  names.pop_back();
  void *program = nullptr;
  call(library, "nvrtcCreateProgram", &program, source.c_str(), "kernel.cu", 0, static_cast<void *>(nullptr),
       static_cast<void *>(nullptr));
  for (const auto &name : names) call(library, "nvrtcAddNameExpression", program, name.c_str());
  const int failed = call(library, "nvrtcCompileProgram", program, count - 5, words + 5);
  size_t size = 0;
  call(library, "nvrtcGetProgramLogSize", program, &size);
  std::string log(size + 1, '\0');
  call(library, "nvrtcGetProgramLog", program, log.data());
  FILE *answer = fopen(words[4], "wb");
  if (!answer) return 4;
  for (const auto &name : names) {
    const char *lowered = "";
    if (!failed) call(library, "nvrtcGetLoweredName", program, name.c_str(), &lowered);
    fprintf(answer, "%s\n", lowered);
  }
  fprintf(answer, "\n%s", log.c_str());
  fclose(answer);
  return failed ? 1 : 0;
}
