// SPDX-License-Identifier: Apache-2.0
#include "api/shared_bound.h"

namespace daybreak::api {

std::shared_ptr<void> SharedBound::take(const std::string& owner, std::size_t amount) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->by_owner.find(owner);
  const std::size_t own = found == state_->by_owner.end() ? 0 : found->second;
  const std::size_t most = max_of(owner);
  if (amount > max_ - state_->held || amount > most || own > most - amount) {
    return nullptr;
  }
  state_->by_owner[owner] = own + amount;
  state_->held += amount;
  return {this, [state = state_, owner, amount](void*) {
            const std::lock_guard lock(state->mutex);
            state->held -= amount;
            const auto it = state->by_owner.find(owner);
            it->second -= amount;
            if (it->second == 0) {
              state->by_owner.erase(it);
            }
          }};
}

}  // namespace daybreak::api
