import { clearImmediate, setImmediate } from "node:timers";
import { createId } from "@svc/core";
import { expect, test } from "vitest";
import { parsePrivateToolkit } from "./parse-definition.ts";
import { checkPhrases } from "./phrases.ts";
import { privateDefinition } from "./test-definitions.ts";

test("other work of the node runs between the phrases of one tool", async () => {
  const toolkit = await parsePrivateToolkit(privateDefinition(), createId("prj", 1));
  const phrases: string[] = [];
  for (let at = 0; at < 20; at++) {
    const get = () => {
      // Longer than a slice of 4 ms, as a phrase is on a very slow machine.
      for (const endMs = performance.now() + 5; performance.now() < endMs; );
      return `find parcel ${at}`;
    };
    Object.defineProperty(phrases, at, { enumerable: true, get });
  }
  let rounds = 0;
  const count = () => {
    rounds++;
    running = setImmediate(count);
  };
  let running = setImmediate(count);
  const checked = await checkPhrases(toolkit, [{ tool: "read_order", phrases }]);
  clearImmediate(running);
  expect(checked.get("read_order")).toHaveLength(20);
  expect(rounds).toBeGreaterThanOrEqual(19);
});
