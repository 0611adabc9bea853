// Puts Landlock around a compiler where bubblewrap cannot put namespaces: level B.
//
//   confine <folder to write> <folder to read>... -- <program> <word>...
//
// What is not named can be neither read nor written, nor can TCP be used. Without Landlock nothing
// is run: the message begins with "confine:", and the status is 70.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

constexpr long CREATE = 444, ADD = 445, RESTRICT = 446;
constexpr uint64_t EXECUTE = 1, WRITE_FILE = 2, READ_FILE = 4, READ_FOLDER = 8, TCP = 3;

struct Rules {
  uint64_t files, tcp;
};
struct __attribute__((packed)) Beneath {
  uint64_t allowed;
  int32_t folder;
};

[[noreturn]] static void fail(const char *what) {
  fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
  _exit(70);
}

static void allow(int rules, const char *path, uint64_t rights) {
  const int folder = open(path, O_PATH | O_CLOEXEC);
  if (folder < 0) return;  // not on this machine: nothing to allow
  const Beneath rule = {rights, folder};
  if (syscall(ADD, rules, 1, &rule, 0) != 0) fail(path);
  close(folder);
}

int main(int count, char **words) {
  int program = 1;
  while (program < count && strcmp(words[program], "--") != 0) program++;
  if (program < 2 || program + 1 >= count) return 70;
  const long version = syscall(CREATE, nullptr, 0, 1);
  if (version < 1) fail("this kernel has no Landlock");
  const int known[] = {13, 14, 15, 15, 16};
  const uint64_t all = (1ull << known[version > 5 ? 4 : version - 1]) - 1;
  const Rules handled = {all, TCP};
  const int rules = static_cast<int>(syscall(CREATE, &handled, version < 4 ? 8 : sizeof handled, 0));
  if (rules < 0) fail("no rules");
  for (const char *path : {"/usr", "/bin", "/lib", "/lib32", "/lib64"})
    allow(rules, path, EXECUTE | READ_FILE | READ_FOLDER);
  allow(rules, "/dev/null", READ_FILE | WRITE_FILE);
  allow(rules, words[1], all & ~EXECUTE);
  for (int i = 2; i < program; i++) allow(rules, words[i], EXECUTE | READ_FILE | READ_FOLDER);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("privileges");
  if (syscall(RESTRICT, rules, 0) != 0) fail("not restricted");
  execvp(words[program + 1], words + program + 1);
  fail(words[program + 1]);
}
