import { faultyCalls } from "./faulty-programs/calls.ts";
import { faultyExpressions } from "./faulty-programs/expressions.ts";
import type { FaultyProgram } from "./faulty-programs/faulty-program.ts";
import { faultyForms } from "./faulty-programs/form.ts";
import { faultyPoints } from "./faulty-programs/points.ts";
import { faultyReferences } from "./faulty-programs/references.ts";
import { faultySets } from "./faulty-programs/sets.ts";

/** The refusals of SubmitJob for faults in the program, several faults in each. */
export const faultyPrograms: readonly FaultyProgram[] = [
  ...faultyForms,
  ...faultyCalls,
  ...faultyReferences,
  ...faultySets,
  ...faultyExpressions,
  ...faultyPoints,
];
