#include "experiments/report/chart/png.h"

#include <zlib.h>

#include <new>
#include <stdexcept>

namespace ablate::report {
namespace {

std::string big_endian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFFU);
  return bytes;
}

std::string chunk(const std::string& kind, const std::string& data) {
  const auto body = kind + data;
  const auto check =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + body +
         big_endian(static_cast<uint32_t>(check));
}

std::string deflated(const std::string& bytes) {
  auto size = compressBound(bytes.size());
  std::string result(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 9);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK) throw std::runtime_error("zlib cannot compress a picture");
  result.resize(size);
  return result;
}

}  // namespace

std::string png(const Image& image) {
  std::string colours, rows;
  for (const auto& colour : image.palette) colours.append(colour.begin(), colour.end());
  for (size_t row = 0; row < image.height; ++row) {
    rows += '\0';  // no filter
    const auto first = image.pixels.begin() + static_cast<ptrdiff_t>(row * image.width);
    rows.append(first, first + static_cast<ptrdiff_t>(image.width));
  }
  const std::string header = big_endian(static_cast<uint32_t>(image.width)) +
                             big_endian(static_cast<uint32_t>(image.height)) +
                             std::string("\x08\x03\0\0\0", 5);  // 8 bits, of a palette
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("PLTE", colours) +
         chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

}  // namespace ablate::report
