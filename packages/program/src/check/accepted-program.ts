import type { Action, JsonSchema } from "@svc/catalog";
import type { ProgramEstimate } from "../estimate.ts";
import type { ProgramFault, ProgramNote } from "../faults.ts";
import type { PinnedSkills, Pins } from "../pins.ts";
import type { Program } from "../program.ts";
import type { Use } from "../steps/use.ts";
import type { AccountQuestion } from "./context.ts";
import type { SkillText } from "./known-skill.ts";

/** A program that can be run as it is. */
export type AcceptedProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly estimate: ProgramEstimate;
  readonly pins: Pins;
  readonly skillPins: PinnedSkills;
  /** The skills that it runs, by the names that it has for them. */
  readonly skills: ReadonlyMap<string, CheckedSkill>;
  /** How deep skills stand in it; 0 where it runs none. */
  readonly depth: number;
  /** Whether a skill in it makes its plan need approval. */
  readonly demandsApproval: boolean;
  /** The skill in it that asks for an approval in mid-run, such as `skills/tidy`. */
  readonly skillGate: string | undefined;
  /** What it uses where no row and no repetition decides. */
  readonly fixedUse: Use;
  /** The type of its declared result, as who runs it as a skill sees it. */
  readonly resultType: JsonSchema;
  /** The tools by which it, and what it runs, may be undone. */
  readonly undoTools: readonly Action[];
  /** What has to be asked each time that it is accepted, of the skills in it too. */
  readonly questions: readonly AccountQuestion[];
  readonly principals: readonly string[];
  readonly secrets: readonly string[];
  readonly hosts: readonly string[];
  /** What it may not mean, though it can be run. Those of the skills in it are not among them. */
  readonly notes: readonly ProgramNote[];
};

/** A skill that a program may run, as it was checked against what the project sees now. */
export type CheckedSkill = SkillText & { readonly accepted: AcceptedProgram };

/** What a check answers: a program that can be run as it is, or everything that is wrong with it, in the order of the text. */
export type CheckedProgram =
  | AcceptedProgram
  /** `omitted` counts faults beyond the 500 that are listed. */
  | { readonly faults: readonly ProgramFault[]; readonly omitted: number };
