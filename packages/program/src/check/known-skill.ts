import type { JsonSchema } from "@svc/catalog";
import type { FaultText } from "@svc/core";
import type { ProgramFaultCode } from "../faults.ts";

/** One version of a skill (a program used as a tool), with the text of its program as submitted. */
export type SkillText = { readonly slug: string; readonly version: number; readonly programJson: string };

/** The facts about a skill that svc needs to check the `run` steps that use the skill. */
export type KnownSkill = {
  readonly inputSchema: JsonSchema;
  /** Schema of the skill's result. */
  readonly resultType: JsonSchema;
  readonly mayWrite: boolean;
};

/** The reason why a program may not run a skill that it names: a fault code, a message, and a hint. */
export type RefusedSkill = { readonly code: ProgramFaultCode; readonly message: string; readonly hint: FaultText };

/**
 * The skills (programs used as tools) that a program names, or the reason why it may not run them. The keys are the names that the program
 * uses.
 */
export type KnownSkills = ReadonlyMap<string, KnownSkill | RefusedSkill>;
