import { expect, test } from "vitest";
import { keptOf, narrowing, whyNotNarrowed } from "./narrow.ts";

const grant = { accessClasses: ["read", "write"], toolkitSlugs: ["calendar", "sales_crm"] };

test("only what is taken away is sent, and what is kept whole stays as it is", () => {
  const kept = { ...keptOf(grant), accessClasses: ["read"] };
  expect(narrowing(grant, kept)).toEqual({ accessClasses: ["read"], toolkitSlugs: [] });
  expect(whyNotNarrowed(grant, kept)).toBeUndefined();
  const ofAll = { ...grant, toolkitSlugs: [] };
  expect(narrowing(ofAll, { ...keptOf(ofAll), typed: " calendar, notes_wiki ," })).toEqual({
    ...{ accessClasses: [], toolkitSlugs: ["calendar", "notes_wiki"] },
  });
});

test("a grant is not narrowed to nothing, nor by nothing", () => {
  expect(whyNotNarrowed(grant, keptOf(grant))).toBe("Nothing is taken away yet.");
  expect(whyNotNarrowed(grant, { ...keptOf(grant), accessClasses: [] })).toContain("revoke the grant instead");
  expect(whyNotNarrowed(grant, { ...keptOf(grant), toolkitSlugs: [] })).toContain("revoke the grant instead");
});
