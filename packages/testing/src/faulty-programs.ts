import { faultyCalls } from "./faulty-programs/calls.ts";
import { faultyExpressions } from "./faulty-programs/expressions.ts";
import type { FaultyProgram } from "./faulty-programs/faulty-program.ts";
import { faultyForms } from "./faulty-programs/form.ts";
import { faultyPoints } from "./faulty-programs/points.ts";
import { faultyReferences } from "./faulty-programs/references.ts";
import { faultySets } from "./faulty-programs/sets.ts";

/** Programs with several faults each, and the faults that SubmitJob must return for them. */
export const faultyPrograms: readonly FaultyProgram[] = [
  ...faultyForms,
  ...faultyCalls,
  ...faultyReferences,
  ...faultySets,
  ...faultyExpressions,
  ...faultyPoints,
];
