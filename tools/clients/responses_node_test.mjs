// The official npm package's Responses API against a running server: plain, streamed, schema, chains, errors.
// usage: node responses_node_test.mjs URL
import OpenAI from "openai";

function check(condition, what) {
  if (!condition) {
    console.error(`failed: ${what}`);
    process.exit(1);
  }
}

function withoutIds(response) {
  const { id, created_at, output, ...rest } = response;
  return JSON.stringify({ ...rest, output: output.map(({ id, call_id, parsed, ...item }) => item) });
}

async function plainAndStreamed(client, model) {
  const options = { model, input: "Hello! Who are you?", temperature: 0, max_output_tokens: 48 };
  const plain = await client.responses.create(options);
  check(["completed", "incomplete"].includes(plain.status), `status ${plain.status}`);
  check(plain.usage.total_tokens === plain.usage.input_tokens + plain.usage.output_tokens, "usage");
  const { output_text, ...whole } = plain; // added by the client

  let text = "";
  let last = null;
  let number = 0;
  for await (const event of await client.responses.create({ ...options, stream: true })) {
    check(event.sequence_number === number++, "dense sequence numbers");
    text += event.type === "response.output_text.delta" ? event.delta : "";
    last = event;
  }
  check(last.type === `response.${plain.status}`, last.type);
  // The second one may start from the first one's prompt.
  delete last.response.usage.input_tokens_details;
  delete whole.usage.input_tokens_details;
  check(withoutIds(last.response) === withoutIds(whole), "the streamed response equals the plain one");
  check(text === output_text, "deltas of the text");
}

async function withSchema(client, model) {
  const format = {
    type: "json_schema",
    name: "person",
    strict: true,
    schema: {
      type: "object",
      properties: { name: { type: "string", maxLength: 12 }, age: { type: "integer", minimum: 0, maximum: 150 } },
      required: ["name", "age"],
      additionalProperties: false,
    },
  };
  const options = { model, input: "Answer.", reasoning: { effort: "none" }, max_output_tokens: 400, text: { format } };
  const parsed = await client.responses.parse({ ...options, temperature: 1 });
  check(Object.keys(JSON.parse(parsed.output_text)).sort().join() === "age,name", parsed.output_text);
  const stream = client.responses.stream({ ...options, temperature: 0 });
  const final = await stream.finalResponse();
  const text = final.output[0].content[0].text;
  check(final.status === "completed" && "age" in JSON.parse(text), text);
}

async function expectStatus(status, promise) {
  try {
    await promise;
  } catch (error) {
    check(error instanceof OpenAI.APIError && error.status === status, `status ${status}, got ${error}`);
    return;
  }
  check(false, `expected status ${status}`);
}

const client = new OpenAI({ baseURL: `${process.argv[2]}/v1`, apiKey: "none", maxRetries: 0, timeout: 120_000 });
const model = (await client.models.list()).data[0].id;
await plainAndStreamed(client, model);
await withSchema(client, model);
const first = await client.responses.create({ model, input: "one", max_output_tokens: 16 });
const second = await client.responses.create({
  model,
  input: [{ type: "item_reference", id: first.output[0].id }, { role: "user", content: "two" }],
  previous_response_id: first.id,
  max_output_tokens: 16,
});
check(second.previous_response_id === first.id, "previous_response_id");
check((await client.responses.retrieve(first.id)).output_text === first.output_text, "retrieve");
await client.responses.delete(first.id);
await expectStatus(404, client.responses.retrieve(first.id));
await expectStatus(400, client.responses.create({ model, input: "q", tools: [{ type: "web_search" }] }));
console.log("openai (npm) responses: plain, streamed, schema, references, kept, errors ok");
