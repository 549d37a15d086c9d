import { expect, test } from "vitest";
import { correctWord, swapsOf } from "./spelling.ts";

test.each([
  ["tomorow", "tomorrow"],
  ["recieve", undefined],
  ["delte", "delete"],
  ["updaet", "update"],
  ["reshcedule", "reschedule"],
  ["campagin", "campaign"],
  ["newsleter", "newsletter"],
  ["companny", "company"],
  ["reveiw", "review"],
  ["grp", "group"],
  ["clndr", "calendar"],
  ["snd", "send"],
])("reads %s as %s", (word, meant) => {
  expect(correctWord(word)).toBe(meant);
});

test("takes no word for another that begins with another letter, is short, or has a sign that no word has", () => {
  for (const word of ["xending", "sxk", "dele1te", "löschen", "x".repeat(31), "__proto__", "constructor"])
    expect(correctWord(word), word).toBeUndefined();
});

test("swaps each pair of neighbours once", () => {
  expect(swapsOf("abc")).toEqual(["bac", "acb"]);
  expect(swapsOf("a")).toEqual([]);
});
