import type { Action, JsonSchema } from "@svc/catalog";
import type { ProgramEstimate } from "../estimate.ts";
import type { ProgramFault, ProgramNote } from "../faults.ts";
import type { PinnedSkills, Pins } from "../pins.ts";
import type { Program } from "../program.ts";
import type { Use } from "../steps/use.ts";
import type { AccountQuestion } from "./context.ts";
import type { SkillText } from "./known-skill.ts";

/** A program that has passed the check and can run, with its estimate and the definitions of the tools and skills that it uses. */
export type AcceptedProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly estimate: ProgramEstimate;
  readonly pins: Pins;
  readonly skillPins: PinnedSkills;
  /** The skills (programs that are called as tools) that this program runs, by the names that the program uses for them. */
  readonly skills: ReadonlyMap<string, CheckedSkill>;
  /**
   * How many levels of skills the program runs: 1 if its skills do not run skills themselves, 2 if one of its skills runs another skill,
   * and so on. 0 if the program runs no skill.
   */
  readonly depth: number;
  /**
   * True if a person must approve this program before it runs, because one of its skills (programs that it calls as tools) needs such an
   * approval. False if no skill needs it.
   */
  readonly demandsApproval: boolean;
  /** The first skill of the program that asks people for an approval, such as `skills/tidy`. Undefined if no skill asks for one. */
  readonly skillGate: string | undefined;
  /**
   * Least use of every run of the program: how many calls, rows and questions it needs in every case. Calls for each row of a set are not
   * included. Repeated steps count once.
   */
  readonly fixedUse: Use;
  /** Schema of the result that the program declares. Another program that runs this program as a skill is checked against this schema. */
  readonly resultType: JsonSchema;
  /** The tools that undo calls of the program or of its skills. */
  readonly undoTools: readonly Action[];
  /**
   * Questions that the check must answer: does an entity (customer or user) have an active account of a toolkit (app)? The questions come
   * from the program and from the skills that it runs. They are answered again at each check, even if the check's other results are cached.
   */
  readonly questions: readonly AccountQuestion[];
  readonly principals: readonly string[];
  readonly secrets: readonly string[];
  readonly hosts: readonly string[];
  /**
   * Notes for the author on parts of the program that may not do what the author means. Notes on the skills that the program runs are not
   * included.
   */
  readonly notes: readonly ProgramNote[];
};

/**
 * A skill (a program used as a tool) that a program may run, with the result of its check against the project's present tools and accounts.
 */
export type CheckedSkill = SkillText & { readonly accepted: AcceptedProgram };

/** Result of a check: a program that can run, or all its faults, in the order of the text. */
export type CheckedProgram =
  | AcceptedProgram
  /** `omitted`: number of faults that are not listed, because more than 500 were found. */
  | { readonly faults: readonly ProgramFault[]; readonly omitted: number };
