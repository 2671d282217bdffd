// SPDX-License-Identifier: Apache-2.0
#include "api/batch_handlers.h"

#include "api/openai_chat.h"
#include "api/openai_completion.h"
#include "api/openai_responses.h"
#include "api/run_chat.h"

namespace daybreak::api {

BatchRun::Handlers generation_handlers(Context& context) {
  return {{"/v1/chat/completions", chat_handler(context, openai_chat())},
          {"/v1/completions", completion_handler(context)},
          {"/v1/responses", chat_handler(context, openai_responses())}};
}

}  // namespace daybreak::api
