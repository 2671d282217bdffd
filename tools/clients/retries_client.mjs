// One request by a package of npm, for retries_python_test.py, which gives the prompt on stdin. Prints the status, 0 for none.
//
// usage: node retries_client.mjs openai|@anthropic-ai/sdk|ai call|leave URL KEY RETRIES TIMEOUT_MS
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, RetryError, streamText } from "ai";
import OpenAI from "openai";
import { text } from "node:stream/consumers";

const [name, what, url, apiKey, retries, timeout] = process.argv.slice(2);
const prompt = await text(process.stdin);
const options = { apiKey, maxRetries: Number(retries), timeout: Number(timeout) };
const messages = [{ role: "user", content: prompt }];

const clients = {
  openai() {
    const client = new OpenAI({ baseURL: `${url}/v1`, ...options });
    const body = { model: "nano", messages };
    return what === "call"
      ? client.chat.completions.create({ ...body, max_completion_tokens: 4 })
      : client.chat.completions.create({ ...body, max_completion_tokens: 30000, ignore_eos: true, stream: true });
  },
  "@anthropic-ai/sdk"() {
    const client = new Anthropic({ baseURL: url, ...options });
    return client.messages.create({ model: "nano", messages, ...(what === "call" ? { max_tokens: 4 } : { max_tokens: 4000, stream: true }) });
  },
  async ai() {
    const model = createOpenAICompatible({ name: "daybreak", baseURL: `${url}/v1`, apiKey })("nano");
    if (what === "call") return generateText({ model, messages, maxOutputTokens: 4, maxRetries: options.maxRetries });
    const leaving = new AbortController();
    const { fullStream } = streamText({ model, messages, maxOutputTokens: 30000, maxRetries: 0, abortSignal: leaving.signal,
      providerOptions: { daybreak: { ignore_eos: true } } });
    return { controller: leaving, async* [Symbol.asyncIterator]() {
      for await (const part of fullStream) if (part.type.endsWith("-delta")) yield part;
    } };
  },
};

let status = 200;
try {
  const answer = await clients[name]();
  if (what === "leave") {
    for await (const _ of answer) {
      answer.controller.abort();
      break;
    }
  }
} catch (error) {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  status = last.status ?? last.statusCode ?? 0;
}
console.log(status);
