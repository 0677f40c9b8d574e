#pragma once

#include <memory>
#include <string>

namespace ablate::corpora {

/// A library of the system that is loaded when one first asks for it, so that a program which does
/// without starts no slower. It is never unloaded.
class SharedLibrary {
 public:
  /// `file` as in "libcurl.so.4". Throws IoError where the system has none; the message names the
  /// Debian package.
  SharedLibrary(const std::string& file, const std::string& package);

  /// Points `function` at the function of this name. Throws IoError where there is none.
  template <class Function>
  void bind(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const char* name) const;

  std::string file_;
  void* handle_;
};

}  // namespace ablate::corpora
