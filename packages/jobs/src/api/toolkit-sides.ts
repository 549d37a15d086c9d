import { type SandboxMode, sidesOf, type ToolkitPin, type ToolkitSides } from "@svc/catalog";
import type { Fault, ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { loadJobPins } from "@svc/db/jobs/load";
import { type AcceptedProgram, readPins } from "@svc/program";
import { jobFaults } from "../errors.ts";

/** The parts of a checked program that decide which apps it calls: its pinned tool definitions, and the same of its skills. */
export type CalledToolkits = Pick<AcceptedProgram, "pins" | "skills">;

/** Returns which toolkits (apps) of a checked program and its skills the sandbox plays, and which are real apps. */
export function sidesOfProgram(checked: CalledToolkits, mode: SandboxMode): ToolkitSides {
  return sidesOf(toolkitsOf(checked), mode);
}

function* toolkitsOf({ pins, skills }: CalledToolkits): Generator<ToolkitPin> {
  for (const { definition } of Object.values(pins)) yield definition;
  for (const { accepted } of skills.values()) yield* toolkitsOf(accepted);
}

/**
 * Does the same as `sidesOfProgram` for a stored program, given by its pinned tool definitions as JSON text. Reads the definitions of its
 * skills from the database. Skips a skill that is not stored.
 */
export async function sidesOfStored(
  db: Executor,
  { projectId, pins }: { readonly projectId: ProjectId; readonly pins: string },
  mode: SandboxMode,
): Promise<ToolkitSides> {
  const toolkits: ToolkitPin[] = [];
  const seen = new Set<string>();
  for (let texts = [pins]; texts.length > 0; ) {
    const read = texts.map(readPins);
    toolkits.push(...read.flatMap(({ pins }) => Object.values(pins).map(({ definition }) => definition)));
    const digests = read.flatMap(({ skills }) => Object.values(skills).map(({ digest }) => digest));
    const unread = [...new Set(digests)].filter((digest) => !seen.has(digest));
    for (const digest of unread) seen.add(digest);
    const names = unread.map((digest) => ({ projectId, digest: Buffer.from(digest, "hex") }));
    texts = (await loadJobPins(db, names)).map((one) => one.pins);
  }
  return sidesOf(toolkits, mode);
}

/**
 * Returns PROGRAM_MIXES_SANDBOX if a program calls real apps and apps that the sandbox plays. The rows that the sandbox invents could then
 * be written to a real app. Returns undefined if it does not.
 */
export function faultOfMixed({ played, live }: ToolkitSides): Fault | undefined {
  return played.length > 0 && live.length > 0 ? jobFaults.PROGRAM_MIXES_SANDBOX(played, live) : undefined;
}

/** True if the log of a job says that the sandbox answers its calls: the sandbox is on, and the program does not only call real apps. */
export function isSandboxJob({ played, live }: ToolkitSides, mode: SandboxMode): boolean {
  return mode !== "off" && (played.length > 0 || live.length === 0);
}
