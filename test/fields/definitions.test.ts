import { afterAll, beforeAll } from "vitest";
import { deploymentFields, toolFields, toolkitFields } from "./definition-fields.ts";
import { createDefinitionWorld, type DefinitionWorld } from "./definition-world.ts";
import { testProofs } from "./test-proofs.ts";
import { actionProofs, pollProofs, triggerProofs } from "./tool-proofs.ts";
import { toolkitProofs } from "./toolkit-proofs.ts";

// Proves every field of the definitions of tools and toolkits and of the deployment file: two definitions that differ only in that field
// behave differently.

let world: DefinitionWorld;
beforeAll(async () => {
  world = await createDefinitionWorld();
});
afterAll(() => world.close());

testProofs(
  [...toolFields, ...toolkitFields, ...deploymentFields],
  { ...actionProofs, ...pollProofs, ...triggerProofs, ...toolkitProofs },
  () => world,
);
