import { create, type DescMessage, type Message, toJsonString } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { shareMessage } from "@svc/core";
import { GetToolResponseSchema, ListToolsResponseSchema, ToolSchema } from "@svc/gen/catalog";
import { GetJobResponseSchema } from "@svc/gen/jobs";
import { SearchToolsResponseSchema } from "@svc/gen/tools";
import { EventSchema, GetEventDocumentResponseSchema, ListEventsResponseSchema } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { writeJson } from "./answer-json.ts";

const options = { alwaysEmitImplicit: true };
const takeTurn = () => undefined;
const tool = (slug: string) =>
  create(ToolSchema, { slug, description: `"${slug}" \u{1f600}\u2028`, requiredScopes: ["a"] });
const shared = (slug: string) => shareMessage(tool(slug));
const many = <Item>(count: number, make: (name: string) => Item) =>
  Array.from({ length: count }, (_, n) => make(`t${n}`));

const longText = (documentJson: string) => create(GetEventDocumentResponseSchema, { documentJson });

const answers: [name: string, desc: DescMessage, message: Message][] = [
  ["an empty one", ListToolsResponseSchema, create(ListToolsResponseSchema)],
  ["a short list", ListToolsResponseSchema, create(ListToolsResponseSchema, { tools: many(3, tool) })],
  [
    "a long list",
    ListToolsResponseSchema,
    create(ListToolsResponseSchema, { tools: many(600, tool), nextPageToken: "n" }),
  ],
  [
    "a long list of shared items",
    ListToolsResponseSchema,
    create(ListToolsResponseSchema, { tools: many(600, shared) }),
  ],
  ["a shared part", GetToolResponseSchema, create(GetToolResponseSchema, { tool: shared("a") })],
  [
    "items with shared parts",
    SearchToolsResponseSchema,
    create(SearchToolsResponseSchema, {
      results: many(40, (name) => ({ tool: shared(name), score: 0.5, matchedTerms: [name] })),
    }),
  ],
  [
    "parts that are not set",
    GetJobResponseSchema,
    create(GetJobResponseSchema, { job: { id: "job_1", title: "" } as never }),
  ],
  [
    "times in a list",
    ListEventsResponseSchema,
    create(ListEventsResponseSchema, {
      events: many(40, (id) => create(EventSchema, { id, receivedAt: timestampFromMs(1_000) })),
    }),
  ],
  // The text has a character of two code units at both ends of each piece, and a lone surrogate.
  ["a long text", GetEventDocumentResponseSchema, longText(`a${"\u{1f600}".repeat(200_000)}\n"\u2028\ud83d`)],
  ["a long text of quotes", GetEventDocumentResponseSchema, longText('"'.repeat(300_000))],
];

test("a long text is written in time slices", async () => {
  let turns = 0;
  await writeJson(GetEventDocumentResponseSchema, longText('"'.repeat(16_000_000)), options, async () => {
    turns++;
  });
  expect(turns).toBeGreaterThan(1);
});

test.each(answers)("%s is written as Connect writes it, each time", async (_name, desc, message) => {
  const expected = toJsonString(desc, message, options);
  for (let time = 0; time < 2; time++) {
    expect((await writeJson(desc, message, options, takeTurn)).toString()).toBe(expected);
  }
});

test("a long list lets other work run, and its answer is the same", async () => {
  let turns = 0;
  const message = create(ListToolsResponseSchema, {
    tools: many(20_000, (slug) => create(ToolSchema, { slug, description: "d".repeat(500) })),
  });
  const written = await writeJson(ListToolsResponseSchema, message, options, () => {
    turns++;
    return Promise.resolve();
  });
  expect(turns).toBeGreaterThan(1);
  expect(written.toString()).toBe(toJsonString(ListToolsResponseSchema, message, options));
});
