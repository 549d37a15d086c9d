import { afterAll, beforeAll } from "vitest";
import { callProofs } from "./call-proofs.ts";
import { isOfCalls, programFields } from "./program-fields.ts";
import { createProgramWorld, type ProgramWorld } from "./program-world.ts";
import { stepProofs } from "./step-proofs.ts";
import { testProofs } from "./test-proofs.ts";

// Proves every field of the steps that call a tool, make a request or run a skill, directly and for each row of a map.

let world: ProgramWorld;
beforeAll(async () => {
  world = await createProgramWorld();
});
afterAll(() => world.close());

const proofs = { ...callProofs, ...stepProofs };
testProofs(
  programFields.filter(isOfCalls),
  Object.fromEntries(Object.entries(proofs).filter(([field]) => isOfCalls(field))),
  () => world,
);
