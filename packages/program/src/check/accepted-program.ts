import type { Action, JsonSchema } from "@svc/catalog";
import type { ProgramEstimate } from "../estimate.ts";
import type { ProgramFault, ProgramNote } from "../faults.ts";
import type { PinnedSkills, Pins } from "../pins.ts";
import type { Program } from "../program.ts";
import type { Use } from "../steps/use.ts";
import type { AccountQuestion } from "./context.ts";
import type { SkillText } from "./known-skill.ts";

/** A program that can run as it is. */
export type AcceptedProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly estimate: ProgramEstimate;
  readonly pins: Pins;
  readonly skillPins: PinnedSkills;
  /** The skills that it runs, by its names for them. */
  readonly skills: ReadonlyMap<string, CheckedSkill>;
  /** Depth of its nested skills. 0 if it runs none. */
  readonly depth: number;
  /** True if one of its skills makes its plan need approval. */
  readonly demandsApproval: boolean;
  /** The skill that asks for an approval during the run, for example `skills/tidy`. */
  readonly skillGate: string | undefined;
  /** Its use of limits that depends on no row and no repetition. */
  readonly fixedUse: Use;
  /** The type of its declared result for a program that runs it as a skill. */
  readonly resultType: JsonSchema;
  /** The tools that may undo its calls and those of its skills. */
  readonly undoTools: readonly Action[];
  /** Questions to ask each time it is accepted, including those of its skills. */
  readonly questions: readonly AccountQuestion[];
  readonly principals: readonly string[];
  readonly secrets: readonly string[];
  readonly hosts: readonly string[];
  /** Notes on parts that may not do what the author means. Notes on its skills are not included. */
  readonly notes: readonly ProgramNote[];
};

/** A skill that a program may run, checked against the project's present state. */
export type CheckedSkill = SkillText & { readonly accepted: AcceptedProgram };

/** Result of a check: a program that can run, or all its faults, in the order of the text. */
export type CheckedProgram =
  | AcceptedProgram
  /** `omitted` counts faults beyond the 500 that are listed. */
  | { readonly faults: readonly ProgramFault[]; readonly omitted: number };
