import { expect, test } from "vitest";
import type { Proofs } from "./proof.ts";
import { leadsTo, withOther } from "./schema-fields.ts";

/** Tests that every field has a proof, that every proof has a field, and that each proof holds. */
export function testProofs<World>(fields: readonly string[], proofs: Proofs<World>, world: () => World): void {
  test("each field that the schema declares has a proof, and nothing else has", () => {
    expect(Object.keys(proofs).sort()).toEqual([...fields].sort());
  });
  test.each(Object.entries(proofs))("%s has an effect", async (field, { of, at, other, shows, gives }) => {
    expect(leadsTo(at, field), `${at} leads to ${field}`).toBe(true);
    const changed = withOther(of, at, other);
    expect(gives[0]).not.toEqual(gives[1]);
    expect([await shows(world(), of), await shows(world(), changed)]).toEqual(gives);
  });
}
