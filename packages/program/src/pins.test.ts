import { type Action, renderRequest } from "@svc/catalog";
import { testContext } from "@svc/testing/programs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createPinReader, pinsOf } from "./pins.ts";

const { view } = await testContext();
const actions = [...view.tools.values()].filter((tool) => tool.kind === "action");

/**
 * Returns an action without its functions and without its rule for polling. That rule is not pinned, because polls use the live
 * definitions.
 */
function dataOf({ poll: _, ...action }: Action) {
  return JSON.parse(JSON.stringify(action)) as unknown;
}

test("every tool of the catalog comes back from its pin as it was", () => {
  const pins = pinsOf(actions, view);
  const tools = createPinReader().tools(JSON.parse(JSON.stringify(pins)));
  expect([...tools.keys()].sort()).toEqual(actions.map(({ slug }) => slug).sort());
  for (const action of actions) expect(dataOf(tools.get(action.slug)!.action)).toEqual(dataOf(action));
});

test("a pinned tool checks arguments and builds requests as the tool it was made of", () => {
  const send = view.tools.get("messaging_bot.send_message") as Action;
  const toolkit = view.toolkits.get("messaging_bot")!;
  const pinned = createPinReader()
    .tools(JSON.parse(JSON.stringify(pinsOf([send], view))))
    .get(send.slug)!;
  const params = { chat_id: "@team", text: "Hello", disable_notification: true };
  expect(pinned.action.validateInput(params)).toEqual([]);
  expect(pinned.action.validateInput({ text: 5 })).toEqual(send.validateInput({ text: 5 }));
  expect(pinned.action.validateOutput({ message_id: null })).toEqual([]);
  const account = { token: "t" };
  expect(renderRequest(pinned.toolkit, pinned.action, { params, account })).toEqual(
    renderRequest(toolkit, send, { params, account }),
  );
});

test("pins hold the tools used and no others, by slug, whatever the order they are named in", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(actions, { minLength: 1, maxLength: 8 }), (some) => {
      const pins = pinsOf(some, view);
      expect(pinsOf([...some].reverse(), view)).toEqual(pins);
      expect([...createPinReader().tools(pins).keys()].sort()).toEqual(some.map(({ slug }) => slug).sort());
      expect(JSON.parse(JSON.stringify(pins))).toEqual(pins);
    }),
    { numRuns: 50 },
  );
});

test("equal pins share one toolkit, and a changed definition is another", () => {
  const reader = createPinReader();
  const send = view.tools.get("messaging_bot.send_message") as Action;
  const pins = pinsOf([send], view);
  const first = reader.tools(pins).get(send.slug);
  expect(reader.tools(structuredClone(pins)).get(send.slug)?.toolkit).toBe(first?.toolkit);
  const toolkit = view.toolkits.get("messaging_bot")!;
  const changed = new Map([["messaging_bot", { ...toolkit, version: "9.9.9" }]]);
  expect(pinsOf([send], { toolkits: changed }).messaging_bot?.digest).not.toBe(pins.messaging_bot?.digest);
});
