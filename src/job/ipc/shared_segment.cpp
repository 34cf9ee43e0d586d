#include "src/job/ipc/shared_segment.hpp"

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/job/ipc/descriptor.hpp"
#include "src/job/ipc/descriptor_server.hpp"

namespace tessera {
namespace {

/// In front of the memory lies the nonce, in a cache line of its own.
constexpr std::int64_t front_bytes = 64;

std::size_t mapped_bytes(std::int64_t size_bytes) {
  return static_cast<std::size_t>(size_bytes + front_bytes);
}

std::uint64_t random_nonce() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U | random()) | 1U;
}

[[noreturn]] void fail(char const* call) {
  throw TransportError(text(call, " failed: ", std::strerror(errno)));
}

/// Maps the memory of `descriptor`, also known as `path`, if it is the segment of the ticket.
void* map_memory(Descriptor const& descriptor, SegmentTicket const& ticket, bool writes,
                 std::string& reason) {
  // In another pid namespace the same path may lead to an unrelated file.
  struct stat status {};
  auto const size = mapped_bytes(ticket.size_bytes);
  if (::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size != static_cast<off_t>(size)) {
    reason = "that is not the memory that was offered";
    return nullptr;
  }
  void* const base = ::mmap(nullptr, size, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                            descriptor.get(), 0);
  if (base == MAP_FAILED) {
    reason = text("the memory cannot be mapped: ", std::strerror(errno));
    return nullptr;
  }
  if (std::memcmp(base, &ticket.nonce, sizeof ticket.nonce) == 0) return base;
  reason = "that memory holds another nonce than the one that was offered";
  ::munmap(base, size);
  return nullptr;
}

}  // namespace

Segment::Segment(Segment&& other) noexcept {
  swap(other);
}

Segment& Segment::operator=(Segment&& other) noexcept {
  Segment old(std::move(*this));
  swap(other);
  return *this;
}

Segment::~Segment() {
  close_descriptor();
  if (base_ != nullptr) ::munmap(base_, mapped_bytes(ticket_.size_bytes));
}

Segment Segment::make(std::int64_t size_bytes) {
  Descriptor descriptor(::memfd_create("tessera", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (descriptor.get() < 0) fail("memfd_create");
  if (::ftruncate(descriptor.get(), static_cast<off_t>(mapped_bytes(size_bytes))) != 0)
    fail("ftruncate");
  // A file that cannot shrink cannot cause SIGBUS in another process. Optional.
  (void)::fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  void* base = ::mmap(nullptr, mapped_bytes(size_bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                      descriptor.get(), 0);
  if (base == MAP_FAILED) fail("mmap");

  Segment made;
  made.base_ = static_cast<std::byte*>(base);
  made.ticket_ = {::getpid(), descriptor.release(), size_bytes, random_nonce(), 0};
  made.owns_descriptor_ = true;
  std::memcpy(made.base_, &made.ticket_.nonce, sizeof made.ticket_.nonce);
  return made;
}

Segment Segment::map(SegmentTicket const& ticket, MapMode mode, std::string& reason,
                     SegmentWays ways) {
  bool const writes = mode == MapMode::read_write;
  Segment mapped;
  auto const use = [&](Descriptor const& descriptor) {
    if (descriptor.get() < 0) return;
    mapped.base_ = static_cast<std::byte*>(map_memory(descriptor, ticket, writes, reason));
    if (mapped) mapped.ticket_ = ticket;
  };
  reason = "no way to it is open";
  if (ways.by_proc) {
    auto const path = text("/proc/", ticket.pid, "/fd/", ticket.descriptor);
    Descriptor const opened(
        ::open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
    if (opened.get() < 0) reason = std::strerror(errno);
    use(opened);
    if (mapped) return mapped;
    reason = text(path, ": ", reason);
  }
  if (ways.by_socket) {
    auto const by_proc = ways.by_proc ? reason + "; " : "";
    use(descriptor_from(ticket.descriptor_server, ticket.descriptor, ticket.nonce, reason));
    reason = by_proc + reason;
  }
  return mapped;
}

std::byte* Segment::data() const {
  return base_ + front_bytes;
}

void Segment::close_descriptor() {
  if (!std::exchange(owns_descriptor_, false)) return;
  ::close(static_cast<int>(ticket_.descriptor));
}

void Segment::swap(Segment& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(ticket_, other.ticket_);
  std::swap(owns_descriptor_, other.owns_descriptor_);
}

}  // namespace tessera
