#pragma once

#include <cstddef>
#include <vector>

namespace corun::inline sim {

/// A read-only view of one member of each element of a vector, or of the elements themselves: code that needs the
/// specs of jobs takes them from any list of jobs, without a copy. The vector must outlive it and must not grow.
template <typename T>
class MemberSpan {
 public:
  MemberSpan() = default;
  MemberSpan(const std::vector<T>& elements)  // NOLINT: as std::span
      : MemberSpan(elements.data(), elements.size(), sizeof(T)) {}
  template <typename Element>
  MemberSpan(const std::vector<Element>& elements, T Element::*member)
      : MemberSpan(elements.empty() ? nullptr : &(elements.front().*member), elements.size(),
                   sizeof(Element)) {}

  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const {
    return *reinterpret_cast<const T*>(first_ + i * stride_);
  }

 private:
  MemberSpan(const T* first, std::size_t size, std::size_t stride)
      : first_(reinterpret_cast<const std::byte*>(first)), size_(size), stride_(stride) {}

  const std::byte* first_ = nullptr;
  std::size_t size_ = 0;
  std::size_t stride_ = 0;  ///< from one member to the next [bytes]
};

}  // namespace corun::inline sim
