import type { Tool, Toolkit } from "@svc/catalog";
import { expect, test } from "vitest";
import { countSaid, phrasesOf } from "./phrases.ts";

function phrasesWith(intents: string[], sayings: string[]) {
  const tool = { name: "ring_bell", intents } as unknown as Tool;
  return phrasesOf(tool, { sayings: new Map([["ring_bell", sayings]]) } as unknown as Toolkit);
}

test("alternatives of an example phrase share a position, and optional ones may be absent", () => {
  const [intent, saying] = phrasesWith(["sound the gong"], ["(ring|sound) the (big|) bell (now|tonight)"]);
  expect([...(intent?.places.keys() ?? [])]).toEqual(["sound", "gong"]);
  expect(intent?.size).toBe(2);
  expect(saying?.places.get("ring")).toBe(saying?.places.get("sound"));
  expect(new Set(saying?.places.values()).size).toBe(4);
  expect(saying?.size).toBe(3);
});

test("one of four alternatives counts half as much as a fixed word", () => {
  const counts = countSaid(["(ring|sound|strike|hit) the bell"]);
  expect(counts.get("bell")).toBe(1);
  expect(counts.get("ring")).toBe(0.5);
});

test("example names in a phrase are not words of it", () => {
  expect([...countSaid(["Ring for Ana (at|in) Berlin"]).keys()]).toEqual(["ring"]);
});

test.each([
  ["(lösche|verschiebe) den Termin (am Freitag|)", ["delet", "move", "appoint", "freitag"]],
  ["leg (bitte|) einen Termin (im Kalender|) an", ["creat", "appoint", "calendar"]],
  ["(enlève|supprime) l'équipe du (planning|calendrier)", ["remov", "delet", "team", "calendar"]],
  ["Kaffeekränzchen (eintragen|verschieben)", ["kaffeekranzchen", "add", "move"]],
  ["borra la (reunión|cita) del Kwibbel", ["delet", "meet", "appoint", "kwibbel"]],
])("reads a phrase in another language as a query in it is read: %s", (phrase, terms) => {
  expect(new Set(phrasesWith([], [phrase])[0]?.places.keys())).toEqual(new Set(terms));
  expect(new Set(countSaid([phrase]).keys())).toEqual(new Set(terms));
});
