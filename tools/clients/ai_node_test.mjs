// The AI SDK (npm `ai`) against a running server: text, streams, tool loop, objects, abort, retries, usage, errors.
// usage: node ai_node_test.mjs URL
import http from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, stepCountIs, streamObject, streamText, tool } from "ai";
import { z } from "zod";

function check(condition, what) {
  if (!condition) {
    console.error(`failed: ${typeof what === "string" ? what : JSON.stringify(what)}`);
    process.exit(1);
  }
}

const url = process.argv[2];
const name = (await (await fetch(`${url}/v1/models`)).json()).data[0].id;
const modelAt = (base) => createOpenAICompatible({
  name: "daybreak", baseURL: `${base}/v1`, includeUsage: true, supportsStructuredOutputs: true,
})(name);
const model = modelAt(url);
const plainAnswer = { daybreak: { reasoningEffort: "none" } };
const hello = { model, prompt: "Hello! Who are you?", temperature: 0, maxOutputTokens: 48, maxRetries: 0 };

async function textAndStream() {
  const plain = await generateText(hello);
  check(plain.text || plain.reasoningText, "some text");
  const streamed = streamText(hello);
  let text = "";
  let reasoning = "";
  for await (const part of streamed.fullStream) {
    if (part.type === "text-delta") text += part.text;
    if (part.type === "reasoning-delta") reasoning += part.text;
    check(part.type !== "error", `an error in the stream: ${part.error}`);
  }
  check(text === plain.text && reasoning === (plain.reasoningText ?? ""), "the stream equals the plain answer");
  check((await streamed.finishReason) === plain.finishReason, "finishReason too");
  const asked = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      model: name, messages: [{ role: "user", content: hello.prompt }], temperature: 0, max_tokens: 48,
    }),
  });
  const { usage } = await asked.json();
  for (const got of [plain.usage, await streamed.usage]) {
    check(got.inputTokens === usage.prompt_tokens && got.outputTokens === usage.completion_tokens, got);
    check(got.totalTokens === usage.total_tokens, got);
    check(got.outputTokenDetails.reasoningTokens === usage.completion_tokens_details.reasoning_tokens, got);
  }
}

// Text beside a forced call is free: the marker that ends it is made certain, so that no model decides how long it is.
async function toolLoop() {
  const marker = await (await fetch(`${url}/tokenize`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ prompt: "<|close|>" }),
  })).json();
  check(marker.count === 1, marker);
  const options = {
    model, prompt: "Weather?", temperature: 0, maxOutputTokens: 400, maxRetries: 0, stopWhen: stepCountIs(3),
    toolChoice: "required",
    providerOptions: {
      daybreak: { reasoningEffort: "none", parallel_tool_calls: false, logit_bias: { [marker.tokens[0]]: 100 } },
    },
  };
  const seen = [];
  const tools = {
    get_weather: tool({
      description: "The weather of a city",
      inputSchema: z.object({ city: z.enum(["Oslo", "Rome"]), unit: z.enum(["celsius", "fahrenheit"]) }).strict(),
      execute: async (input) => {
        seen.push(input);
        return { degrees: 3 };
      },
    }),
  };
  const plain = await generateText({ ...options, tools });
  const streamed = streamText({ ...options, tools });
  await streamed.consumeStream();
  for (const steps of [plain.steps, await streamed.steps]) {
    check(steps.length === 3, `${steps.length} steps`);
    let before = 0;
    for (const step of steps) {
      check(step.finishReason === "tool-calls" && step.toolCalls.length === 1, step.content);
      check(step.toolResults[0].output.degrees === 3, step.content);
      check(step.usage.inputTokens > before, "a call and its result are in the next prompt");
      before = step.usage.inputTokens;
    }
  }
  check(seen.length === 6, `${seen.length} calls`);
}

async function objects() {
  const schema = z.object({ mood: z.enum(["good", "bad"]), sure: z.boolean() }).strict();
  const options = { ...hello, maxOutputTokens: 200, schema, providerOptions: plainAnswer };
  const plain = await generateObject(options);
  check(schema.safeParse(plain.object).success, plain.object);
  const streamed = streamObject(options);
  let last;
  for await (const part of streamed.partialObjectStream) last = part;
  check(JSON.stringify(last) === JSON.stringify(plain.object), "the streamed object equals the plain one");
  check(JSON.stringify(await streamed.object) === JSON.stringify(plain.object), "in the end too");
}

async function running() {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(text.match(/^vllm:num_requests_running(?:{.*})? (\S+)$/m)[1]);
}

async function abort() {
  const controller = new AbortController();
  const streamed = streamText({
    ...hello, maxOutputTokens: 30000, abortSignal: controller.signal,
    providerOptions: { daybreak: { ignore_eos: true } },
  });
  let aborted = false;
  for await (const part of streamed.fullStream) {
    if (part.type.endsWith("-delta") && !controller.signal.aborted) {
      check((await running()) === 1, "one request runs");
      controller.abort();
    }
    aborted ||= part.type === "abort";
  }
  check(aborted, "expected an abort");
  for (let i = 0; i < 200; ++i) {
    if ((await running()) === 0) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  check(false, "an aborted stream goes on");
}

// A server in front of ours that is too busy twice and then passes everything on.
async function retries() {
  const refusals = [429, 503];
  let asked = 0;
  const front = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const status = refusals[asked++];
    if (status) {
      response.writeHead(status, { "Content-Type": "application/json", "Retry-After": "0" });
      response.end(JSON.stringify({ error: { message: "busy", type: "overloaded", code: status } }));
      return;
    }
    const reply = await fetch(url + request.url, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: Buffer.concat(chunks),
    });
    response.writeHead(reply.status, { "Content-Type": reply.headers.get("content-type") });
    response.end(Buffer.from(await reply.arrayBuffer()));
  });
  await new Promise((done) => front.listen(0, "127.0.0.1", done));
  const through = modelAt(`http://127.0.0.1:${front.address().port}`);
  const direct = await generateText(hello);
  const plain = await generateText({ ...hello, model: through, maxRetries: 2 });
  check(asked === 3 && plain.text === direct.text, `${asked} tries`);
  asked = 0;
  const streamed = streamText({ ...hello, model: through, maxRetries: 2 });
  await streamed.consumeStream();
  check(asked === 3 && (await streamed.text) === direct.text, `${asked} tries of a stream`);
  front.closeAllConnections();
  front.close();
}

async function expectError(status, words, promise) {
  try {
    await promise;
  } catch (error) {
    check(APICallError.isInstance(error) && error.statusCode === status, `status ${status}, got ${error}`);
    check(error.message.includes(words) && error.message === error.data.error.message, error.message);
    check(!error.isRetryable, "not worth a retry");
    return;
  }
  check(false, `expected status ${status}`);
}

await textAndStream();
await toolLoop();
await objects();
await abort();
await retries();
const missing = createOpenAICompatible({ name: "daybreak", baseURL: `${url}/v1` })("no-such-model");
await expectError(404, "no-such-model", generateText({ ...hello, model: missing }));
await expectError(400, "temperature", generateText({ ...hello, temperature: 9 }));
console.log("ai, @ai-sdk/openai-compatible (npm): text, streams, 3 tool steps, objects, abort, retries, usage, errors ok");
