#!/usr/bin/env bash
# Makes sure that the solver's C++ can be compiled, before minutes are spent on compiling it.
#
# HiGHS is built from source by cargo. It needs cmake, a C++17 compiler and libclang (for the bindings); without
# libclang the build would fail only at its very end. As root on Debian or Ubuntu what is missing is installed;
# elsewhere this says what to install. When all is there it takes milliseconds.
set -euo pipefail

missing=()

command -v cmake >/dev/null || missing+=(cmake)

if [ -n "${CXX:-}" ]; then
  command -v "${CXX%% *}" >/dev/null || missing+=(c++)
else
  command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || missing+=(c++)
fi

# The places where the binding generator itself looks.
libclang() {
  local folder name
  for folder in "${LIBCLANG_PATH:-}" /usr/lib/llvm-*/lib /usr/lib/llvm*/lib* /usr/lib64/llvm*/lib* /usr/lib /usr/lib64 \
    /usr/lib/*-linux-gnu /usr/local/lib /usr/local/llvm*/lib* /opt/homebrew/opt/llvm/lib /usr/local/opt/llvm/lib \
    /Library/Developer/CommandLineTools/usr/lib /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib; do
    [ -n "$folder" ] || continue
    for name in "$folder"/libclang.so* "$folder"/libclang-*.so* "$folder"/libclang.dylib; do
      # `libclang-cpp` is another library, which comes with other packages and is of no use here.
      case ${name##*/} in libclang-cpp*) continue ;; esac
      [ -e "$name" ] && return 0
    done
  done
  command -v llvm-config >/dev/null &&
    [ -n "$(find "$(llvm-config --libdir)" -maxdepth 1 -name 'libclang*.so*' ! -name 'libclang-cpp*' 2>/dev/null)" ]
}
libclang || missing+=(libclang)

if ! command -v cargo >/dev/null; then
  echo "error: cargo is not installed; see https://rustup.rs (rust-toolchain.toml pins the version)" >&2
  exit 1
fi

[ ${#missing[@]} -eq 0 ] && exit 0

packages_debian() {
  for need in "${missing[@]}"; do
    case $need in
      cmake) echo cmake ;;
      c++) echo g++ ;;
      libclang) echo libclang-dev ;;
    esac
  done
}

echo "The solver needs ${missing[*]}, not found on this machine." >&2
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  mapfile -t packages < <(packages_debian)
  echo "Installing ${packages[*]} with apt-get." >&2
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
  exit 0
fi

cat >&2 <<HOW
Install it, then run make again:
  Debian, Ubuntu   sudo apt-get install $(packages_debian | tr '\n' ' ')
  Fedora           sudo dnf install cmake gcc-c++ clang-devel
  Arch             sudo pacman -S cmake gcc clang
  macOS            xcode-select --install; brew install cmake llvm
Or build without C++ (plans come from local search alone; see docs/adr/0002):
  cargo build --release --no-default-features --features solver-microlp
HOW
exit 1
