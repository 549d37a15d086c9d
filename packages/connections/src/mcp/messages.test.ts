import { longestTurnMs, processorBudgetMs } from "@svc/testing/processor";
import { expect, test } from "vitest";
import { createResponseWatch, readResponse } from "./messages.ts";

const stream = (text: string) =>
  ({ kind: "answer", status: 200, headers: { "content-type": "text/event-stream" }, body: Buffer.from(text) }) as const;
const response = '{"jsonrpc":"2.0","id":1,"result":{}}';

test.each([
  ["LF", "\n"],
  ["CR", "\r"],
  ["CRLF", "\r\n"],
])("events with lines that end in %s are read", async (_name, end) => {
  const text = ["event: message", ": comment", "data: {", 'data:"id":1,"result":2}', "", `data: ${response}`, ""].join(
    end,
  );
  expect((await readResponse(stream(text), 1))?.value).toEqual({ id: 1, result: 2 });
});

test("an event at the end of a stream needs no empty line", async () => {
  expect((await readResponse(stream(`data: {}\n\ndata: ${response}`), 1))?.text).toBe(response);
});

test.each([
  ["line ends", "\n"],
  ["mixed line ends", "\r\n\n\r"],
  ["short lines", "data:\n"],
])("a stream of 8 MiB of %s leaves turns to other work", async (_name, part) => {
  const answer = stream(part.repeat((8 * 1024 * 1024) / part.length));
  const read = async () => expect(await readResponse(answer, 1)).toBeUndefined();
  expect(await longestTurnMs(read, 10)).toBeLessThan(processorBudgetMs(20));
});

test("the watch finds a response after a long event, in parts of any size", () => {
  const text = Buffer.from(`data: ${"x".repeat(200_000)}\n\ndata: ${response}\r\n\r\n`);
  for (const size of [7, 1_000, 65_536, text.length]) {
    const isComplete = createResponseWatch(1);
    const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.subarray(at * size, (at + 1) * size),
    );
    expect(parts.map(isComplete).lastIndexOf(true)).toBe(parts.length - 1);
  }
});
