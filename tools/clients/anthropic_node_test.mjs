// Anthropic's npm package against a running server: plain, streamed, tool loop, counting, abort, errors.
// usage: node anthropic_node_test.mjs URL
import Anthropic from "@anthropic-ai/sdk";

function check(condition, what) {
  if (!condition) {
    console.error(`failed: ${typeof what === "string" ? what : JSON.stringify(what)}`);
    process.exit(1);
  }
}

const hello = [{ role: "user", content: "Hello! Who are you?" }];
const weather = {
  name: "get_weather",
  input_schema: {
    type: "object",
    properties: { city: { type: "string", maxLength: 20 }, unit: { enum: ["celsius", "fahrenheit"] } },
    required: ["city", "unit"],
    additionalProperties: false,
  },
};

// What is random is left out, and so is input that was cut: the helper has its own reading of it.
function comparable(message) {
  return JSON.stringify([
    message.content.map((block) => ({
      type: block.type,
      text: block.text ?? block.thinking ?? block.name,
      signature: block.signature,
      input: message.stop_reason === "max_tokens" ? undefined : block.input,
    })),
    message.stop_reason,
    message.stop_sequence,
    message.usage.output_tokens,
  ]);
}

async function bothForms(client, options) {
  const plain = await client.messages.create(options);
  const streamed = await client.messages.stream(options).finalMessage();
  check(comparable(plain) === comparable(streamed), `${comparable(plain)} ${comparable(streamed)}`);
  return plain;
}

async function toolLoop(client, model) {
  const messages = [{ role: "user", content: "Weather?" }];
  let rounds = 0;
  for (; rounds < 2; ++rounds) {
    const message = await bothForms(client, {
      model,
      messages,
      max_tokens: 400,
      temperature: 0,
      tools: [weather],
      thinking: { type: "disabled" },
      tool_choice: { type: "tool", name: "get_weather", disable_parallel_tool_use: true },
    });
    if (message.stop_reason === "max_tokens") break;
    const uses = message.content.filter((block) => block.type === "tool_use");
    check(message.stop_reason === "tool_use" && uses.length === 1, message);
    check(Object.keys(uses[0].input).sort().join() === "city,unit", message);
    messages.push({ role: "assistant", content: message.content });
    messages.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: uses[0].id, is_error: true, content: "no such city" }],
    });
  }
  return rounds;
}

async function abort(client, model) {
  const stream = client.messages.stream({ model, messages: hello, max_tokens: 4000 });
  stream.once("streamEvent", () => stream.abort());
  try {
    await stream.finalMessage();
  } catch (error) {
    check(error instanceof Anthropic.APIUserAbortError, `aborted, got ${error}`);
    return;
  }
  check(false, "expected an abort");
}

async function expectError(type, kind, promise) {
  try {
    await promise;
  } catch (error) {
    check(error instanceof type && error.error.error.type === kind, `${kind}, got ${error}`);
    check(error.requestID === error.error.request_id, "the request id");
    return;
  }
  check(false, `expected ${kind}`);
}

const url = process.argv[2];
const model = (await (await fetch(`${url}/v1/models`)).json()).data[0].id;
const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0, timeout: 120_000 });
const message = await bothForms(client, { model, messages: hello, max_tokens: 48, temperature: 0 });
check(message.content[0].type === "thinking" && message.content[0].signature, message);
const count = await client.messages.countTokens({ model, messages: hello });
check(count.input_tokens === message.usage.input_tokens + message.usage.cache_read_input_tokens, count);
const rounds = await toolLoop(client, model);
await abort(client, model);
await expectError(Anthropic.NotFoundError, "not_found_error",
  client.messages.create({ model: "no-such-model", messages: hello, max_tokens: 5 }));
await expectError(Anthropic.BadRequestError, "invalid_request_error",
  client.messages.create({ model, messages: [], max_tokens: 5 }));
console.log(`@anthropic-ai/sdk (npm): plain, streamed, ${rounds} tool rounds, count_tokens, abort, errors ok`);
