import { expect, test } from "vitest";
import { keptOf, narrowing, whyNotNarrowed } from "./narrow.ts";

const grant = {
  accessClasses: ["read", "write"],
  toolkitSlugs: ["calendar", "sales_crm"],
  agentTools: ["programs", "connect"],
};

test("only what is taken away is sent, and what is kept whole stays as it is", () => {
  const kept = { ...keptOf(grant), accessClasses: ["read"] };
  expect(narrowing(grant, kept)).toEqual({ accessClasses: ["read"], toolkitSlugs: [], agentTools: [] });
  expect(whyNotNarrowed(grant, kept)).toBeUndefined();
  const ofAll = { ...grant, toolkitSlugs: [] };
  expect(narrowing(ofAll, { ...keptOf(ofAll), typed: " calendar, notes_wiki ," })).toEqual({
    ...{ accessClasses: [], toolkitSlugs: ["calendar", "notes_wiki"], agentTools: [] },
  });
});

test("a grant is not narrowed to nothing, nor by nothing", () => {
  expect(whyNotNarrowed(grant, keptOf(grant))).toBe("No permission is removed yet.");
  expect(whyNotNarrowed(grant, { ...keptOf(grant), accessClasses: [] })).toContain("Disconnect the agent instead");
  expect(whyNotNarrowed(grant, { ...keptOf(grant), toolkitSlugs: [] })).toContain("Disconnect the agent instead");
});

test("what an agent has beside the tools of apps is taken in part or whole", () => {
  expect(narrowing(grant, { ...keptOf(grant), agentTools: ["connect"] }).agentTools).toEqual(["connect"]);
  expect(narrowing(grant, { ...keptOf(grant), agentTools: [] }).agentTools).toEqual(["none"]);
  expect(whyNotNarrowed(grant, { ...keptOf(grant), agentTools: [] })).toBeUndefined();
});

test("more of a grant's calls are confirmed by a person, by somebody who is named", () => {
  const kept = { ...keptOf(grant), confirm: { person: "writes", contact: " lead " } };
  expect(narrowing(grant, kept).confirm).toEqual({ person: "writes", contact: "lead" });
  expect(whyNotNarrowed(grant, kept)).toBeUndefined();
  expect(whyNotNarrowed(grant, { ...kept, confirm: { person: "writes", contact: "" } })).toContain(
    "who has to confirm",
  );
  expect(narrowing({ ...grant, confirm: { person: "writes", contact: "lead" } }, kept).confirm).toBeUndefined();
});
