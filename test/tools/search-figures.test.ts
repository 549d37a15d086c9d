import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { createToolSearch } from "@svc/tools";
import { expect, test } from "vitest";
import everyday from "../../bench/search/everyday.json" with { type: "json" };
import intents from "../../bench/search/intents.json" with { type: "json" };
import nonsense from "../../bench/search/nonsense.json" with { type: "json" };
import sloppy from "../../bench/search/sloppy.json" with { type: "json" };

// The figures that the search must reach without embeddings. `npm run bench -- search` prints them, with public sets in addition.

const search = createToolSearch(await shippedCatalog());

type SearchCase = { readonly intent: string; readonly accepts: readonly string[] };

test.each<[string, readonly SearchCase[], number, number]>([
  ["own requests", intents, 0.8, 0.95],
  ["requests by an author who knew neither definitions nor engine", everyday, 0.75, 0.95],
  ["requests with ids, typos and other languages", sloppy, 0.75, 0.95],
])(
  "of %s, enough find the right tool in the first place and among the first five, and at most 1 %% find nothing",
  (_name, cases, first, five) => {
    const places = cases.map(({ intent, accepts }) => {
      const found = search.search({ query: intent }).results.map(({ tool }) => tool.slug);
      return { isEmpty: found.length === 0, place: found.findIndex((slug) => accepts.includes(slug)) };
    });
    const shareOf = (is: (one: (typeof places)[number]) => boolean) => places.filter(is).length / cases.length;
    expect(shareOf(({ place }) => place === 0)).toBeGreaterThanOrEqual(first);
    expect(shareOf(({ place }) => place >= 0 && place < 5)).toBeGreaterThanOrEqual(five);
    expect(shareOf(({ isEmpty }) => isEmpty)).toBeLessThanOrEqual(0.01);
  },
);

test("no text without sense has high confidence", () => {
  expect(nonsense.filter((query) => search.search({ query }).confidence === "high")).toEqual([]);
});
