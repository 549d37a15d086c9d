import { expect, test } from "vitest";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { termOf, termsOf, wordsOf } from "./words.ts";

test.each([
  ["authenticationID", ["authentication", "id"]],
  ["PDFReader", ["pdf", "reader"]],
  ["list_next_items", ["list", "next", "items"]],
  ["Don't archive it – café №5!", ["dont", "archive", "it", "cafe", "no5"]],
  ["Größe 東京", ["grosse", "東京"]],
  ["STRAẞE nœud Øre", ["strasse", "noeud", "ore"]],
  ["🔥 (.*)", []],
])("takes the plain words of %s", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test("forms of one word are one term, also where only the table knows", () => {
  for (const forms of [
    ["create", "creates", "creating"],
    ["send", "sent"],
    ["person", "people"],
    ["cancel", "cancelled"],
  ]) {
    expect(new Set(forms.map(termOf)).size, forms.join(" ")).toBe(1);
  }
});

test("names of Object.prototype are words like others", () => {
  for (const name of ["constructor", "valueOf", "__proto__"]) expect(typeof termOf(name)).toBe("string");
});

test("stop words and single letters are left out, digits are not", () => {
  expect(termsOf("what is the x of 7 v2 items")).toEqual(["7", "v2", "item"]);
});

test("the vocabulary holds plain words alone, and no phrase or synonym without a meaning", () => {
  const { synonyms, phrases, verbClasses, stopWords, prepositions, irregularForms } = vocabulary;
  for (const group of synonyms) expect(new Set(group.map(termOf)).size, group.join(" ")).toBeGreaterThan(1);
  const words = [
    ...synonyms.flat(),
    ...Object.values(verbClasses).flat(),
    ...stopWords,
    ...prepositions,
    ...Object.values(phrases),
  ];
  for (const word of [...words, ...Object.keys(irregularForms)]) expect(wordsOf(word), word).toEqual([word]);
  for (const phrase of Object.keys(phrases)) expect(wordsOf(phrase).join(" ")).toBe(phrase);
});
