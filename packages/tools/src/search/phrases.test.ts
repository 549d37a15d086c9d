import type { ToolDefinition, Toolkit } from "@svc/catalog";
import { expect, test } from "vitest";
import { countSaid, phrasesOf } from "./phrases.ts";

function phrasesWith(intents: string[], sayings: string[]) {
  const tool = { name: "ring_bell", intents } as unknown as ToolDefinition;
  return phrasesOf(tool, { sayings: new Map([["ring_bell", sayings]]) } as unknown as Toolkit);
}

test("the choices of a saying stand at one place, of which what may be left out is not missed", () => {
  const [intent, saying] = phrasesWith(["sound the gong"], ["(ring|sound) the (big|) bell (now|tonight)"]);
  expect([...(intent?.places.keys() ?? [])]).toEqual(["sound", "gong"]);
  expect(intent?.size).toBe(2);
  expect(saying?.places.get("ring")).toBe(saying?.places.get("sound"));
  expect(new Set(saying?.places.values()).size).toBe(4);
  expect(saying?.size).toBe(3);
});

test("one of four choices counts half of a word that is always said", () => {
  const counts = countSaid(["(ring|sound|strike|hit) the bell"]);
  expect(counts.get("bell")).toBe(1);
  expect(counts.get("ring")).toBe(0.5);
});

test("names that a saying has for an example are no words of it", () => {
  expect([...countSaid(["Ring for Ana (at|in) Berlin"]).keys()]).toEqual(["ring"]);
});
