import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { foreignWordsOf, signsOf } from "./translate.ts";

// The search finds shipped tools by what users say. Without enough phrases in each language, it finds them badly in this language.

const toolkits = [...(await shippedCatalog()).toolkits.values()];
const tools = toolkits.flatMap(({ actions, sayings }) => {
  return actions
    .filter(({ callable }) => callable)
    .map(({ slug, name }) => ({ slug, sayings: sayings?.get(name) ?? [] }));
});

/** Returns how many sentences an example phrase stands for: `(call|ring) (him|)` stands for four. */
function countSentences(saying: string): number {
  const choices = [...saying.matchAll(/\(([^()]*)\)/g)].map(([, choice = ""]) => choice.split("|").length);
  return choices.reduce((product, count) => product * count, 1);
}

/** Returns the language of an example phrase by its position in `signsOf`: 0 is English. */
function languageOf(saying: string): number {
  const signs = signsOf(foreignWordsOf(saying));
  return signs.indexOf(Math.max(...signs));
}

const sentencesMin = 40;
const phrasesMin = 15;

test(`users can ask for each shipped tool in at least ${sentencesMin} sentences of the files of phrases`, () => {
  const few = tools.filter(({ sayings }) => {
    const sentences = sayings.reduce((sum, saying) => sum + countSentences(saying), 0);
    return sentences < sentencesMin || new Set(sayings).size < phrasesMin;
  });
  expect(tools.length).toBeGreaterThan(600);
  expect(few.map(({ slug }) => slug)).toEqual([]);
});

test("each shipped tool has phrases in English, German, Spanish and French", () => {
  const spoken = (sayings: readonly string[]) => new Set(sayings.map(languageOf)).size;
  expect(tools.filter(({ sayings }) => spoken(sayings) < 4).map(({ slug }) => slug)).toEqual([]);
});
