import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSearch, writeIndex } from "../search/search.ts";
import { readExampleQuestions } from "./example-questions.ts";
import { readPages } from "./pages.ts";
import { sectionsOf } from "./sections.ts";

test("each example question leads to its page within three results", () => {
  const search = openSearch(writeIndex(sectionsOf(readPages(fileURLToPath(new URL("../../../..", import.meta.url))))));
  const pageOf = (path: string) => path.replace(/#.*/, "");
  const missed = [...readExampleQuestions()].flatMap(([address, questions]) =>
    questions.filter((question) => {
      const first = search(question).slice(0, 3);
      return !first.some(({ path }) => pageOf(path) === pageOf(address));
    }),
  );
  expect(missed).toEqual([]);
});
