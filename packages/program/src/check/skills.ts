import { createHash } from "node:crypto";
import type { Action } from "@svc/catalog";
import { call, type FaultText, text } from "@svc/core";
import { needsPlanApproval } from "../estimate.ts";
import type { ProgramFaultCode } from "../faults.ts";
import { gateOf } from "../gate.ts";
import { type PinnedSkills, pinsText } from "../pins.ts";
import type { Program } from "../program.ts";
import { readSkillName, type SkillName } from "../skill-name.ts";
import { runsOf } from "../steps/index.ts";
import type { CheckedProgram, CheckedSkill } from "./accepted-program.ts";
import type { CheckContext } from "./context.ts";
import type { KnownSkill, KnownSkills, RefusedSkill } from "./known-skill.ts";

/** Results of checking the skills (programs that are used as tools) that a program names. The keys are the names that the program uses. */
export type CheckedSkills = ReadonlyMap<string, CheckedSkill | RefusedSkill>;

/** Maximum depth of skills that run other skills. */
const skillDepthMax = 4;

/** Checks one program: its structure, tools and types. Returns the checked program or its errors. */
type ProgramChecker = (programJson: string, context: CheckContext) => Promise<CheckedProgram>;

/**
 * Checks every skill that a program runs, and the skills inside them. They are stored programs, so rules that were added later do not
 * apply.
 */
export async function checkSkills(
  { steps }: Program,
  context: CheckContext,
  check: ProgramChecker,
): Promise<CheckedSkills> {
  const names = runsOf(steps);
  const checked = new Map<string, CheckedSkill | RefusedSkill>();
  for (const name of names) checked.set(name, await checkSkill(name, context, check));
  return checked;
}

async function checkSkill(
  name: string,
  context: CheckContext,
  check: ProgramChecker,
): Promise<CheckedSkill | RefusedSkill> {
  const named = readSkillName(name);
  const found = named && (await context.findSkill?.(named));
  if (found === undefined) return unknown(name, named);
  const { within = [] } = context;
  const key = `${found.slug}@${found.version}`;
  if (within.includes(key)) return refused(`${name} would run itself`, "run a skill that does not run this one again");
  if (within.length >= skillDepthMax) return tooDeep(name);
  const accepted = await check(found.programJson, { ...context, isStored: true, within: [...within, key] });
  if ("faults" in accepted) return faulty(name, accepted.faults);
  return accepted.depth >= skillDepthMax ? tooDeep(name) : { ...found, accepted };
}

function unknown(name: string, named: SkillName | undefined): RefusedSkill {
  const which = named === undefined || named.version === 0 ? "" : " with that version";
  return {
    code: "PROGRAM_TOOL_UNKNOWN",
    message: `there is no skill ${name}${which}`,
    hint: text`${call("ListSkills")} lists the existing ones; ${call("PromoteJob")} makes one from a job that succeeded`,
  };
}

function refused(message: string, hint: FaultText): RefusedSkill {
  return { code: "PROGRAM_TOOL_NOT_CALLABLE", message, hint };
}

function tooDeep(name: string): RefusedSkill {
  const message = `${name} would nest skills more than ${skillDepthMax} deep`;
  return refused(message, "run the innermost skills from this program, one after the other");
}

function faulty(
  name: string,
  faults: readonly { code: ProgramFaultCode; pointer: string; message: string }[],
): RefusedSkill {
  const lacksAccounts = faults.every(({ code }) => code === "PROGRAM_ACCOUNT_MISSING");
  const [first] = faults;
  const more = faults.length > 1 ? `; and ${faults.length - 1} more` : "";
  return {
    code: lacksAccounts ? "PROGRAM_ACCOUNT_MISSING" : "PROGRAM_TOOL_NOT_CALLABLE",
    message: `${name} cannot run now: in its program ${first?.pointer} ${first?.message}${more}`,
    hint: lacksAccounts
      ? text`connect one with ${call("InitiateConnection")}`
      : text`${call("GetSkill")} shows its program: correct it, and promote it as the next version`,
  };
}

/** Returns those skills of a program that passed their check and can run. The keys are the names that the program uses for the skills. */
export function runnableOf(skills: CheckedSkills): ReadonlyMap<string, CheckedSkill> {
  return new Map([...skills].flatMap(([name, skill]) => ("code" in skill ? [] : [[name, skill] as const])));
}

/**
 * Returns the data about each skill that the check of steps needs: its input schema, the type of its result, and if it may write. For a
 * refused skill, returns the refusal.
 */
export function knownSkillsOf(skills: CheckedSkills): KnownSkills {
  return new Map<string, KnownSkill | RefusedSkill>(
    [...skills].map(([name, skill]) => {
      if ("code" in skill) return [name, skill] as const;
      const { program, resultType, estimate } = skill.accepted;
      const known = { inputSchema: program.inputSchema ?? {}, resultType, mayWrite: estimate.writesMax > 0 };
      return [name, known] as const;
    }),
  );
}

/**
 * Returns the pins of a program's skills. Each pin fixes a skill by the hash of its program and definitions, so later changes of the skill
 * have no effect.
 */
export function skillPinsOf(skills: ReadonlyMap<string, CheckedSkill>): PinnedSkills {
  return Object.fromEntries(
    [...skills].map(([name, { slug, version, programJson, accepted }]) => {
      const digest = programDigest(programJson, pinsText(accepted)).toString("hex");
      return [name, { slug, version, digest, estimate: accepted.estimate }];
    }),
  );
}

/** Returns the digest that is the key of a stored program. It depends on the program's text and on its pins (stored tool definitions). */
export function programDigest(programJson: string, pins: string): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([programJson, pins]))
    .digest();
}

/**
 * True if a person must approve a program before it runs, because one of its skills (programs that it calls as tools) would need such an
 * approval.
 */
export function demandsApproval(skills: ReadonlyMap<string, CheckedSkill>): boolean {
  return [...skills.values()].some(({ accepted }) => {
    return accepted.demandsApproval || needsPlanApproval(accepted.program, accepted.estimate, "never");
  });
}

/**
 * Returns the first skill that can ask people for an approval while it runs, directly or through a skill that it runs. Returns undefined if
 * there is none.
 */
export function skillGateOf(skills: ReadonlyMap<string, CheckedSkill>): string | undefined {
  const found = [...skills].find(([, { accepted }]) => gateOf(accepted.program) ?? accepted.skillGate);
  return found && `skills/${found[0]}`;
}

/** Returns the tools that would be called to undo the calls of these skills. */
export function undoToolsOf(skills: ReadonlyMap<string, CheckedSkill>): readonly Action[] {
  return [...skills.values()].flatMap(({ accepted }) => accepted.undoTools);
}
