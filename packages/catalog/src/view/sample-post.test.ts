import { catalogOf } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { shownSampleMs } from "./sample-post.ts";

test("the sample of each trigger is one post at one time, and a new event at another", async () => {
  const catalogs = [await shippedCatalog(), catalogOf({ toolkits: Object.values(sampleToolkits) })];
  const triggers = catalogs.flatMap(({ toolkits }) => [...toolkits.values()].flatMap((toolkit) => toolkit.triggers));
  expect(triggers.length).toBeGreaterThan(4);
  for (const { slug, sample, normalize } of triggers) {
    expect(sample(shownSampleMs), slug).toEqual(sample(shownSampleMs));
    const [first, next] = [shownSampleMs, shownSampleMs + 1].map((ms) => {
      const { body, ...post } = sample(ms);
      return normalize({ ...post, query: new URLSearchParams(post.query), body });
    });
    expect(first, slug).toMatchObject({ dedupe: expect.any(String) });
    const { dedupe } = first as { readonly dedupe: string };
    if (dedupe !== "") expect(next, slug).not.toMatchObject({ dedupe });
  }
});
