import { type SandboxMode, sidesOf, type ToolkitPin, type ToolkitSides } from "@svc/catalog";
import type { Fault, ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { loadJobPins } from "@svc/db/jobs/load";
import { type AcceptedProgram, readPins } from "@svc/program";
import { jobFaults } from "../errors.ts";

/**
 * The parts of a checked program that decide which apps it calls: the tool definitions stored with it (pins), and the skills that it runs.
 */
export type CalledToolkits = Pick<AcceptedProgram, "pins" | "skills">;

/**
 * Returns the toolkits (apps) that a checked program and its skills call, in two groups: those that the sandbox emulates, and those that are
 * real apps.
 */
export function sidesOfProgram(checked: CalledToolkits, mode: SandboxMode): ToolkitSides {
  return sidesOf(toolkitsOf(checked), mode);
}

function* toolkitsOf({ pins, skills }: CalledToolkits): Generator<ToolkitPin> {
  for (const { definition } of Object.values(pins)) yield definition;
  for (const { accepted } of skills.values()) yield* toolkitsOf(accepted);
}

/**
 * Returns the toolkits (apps) that a stored program and its skills call, in two groups: emulated by the sandbox, and real. The program is
 * given by its stored tool definitions as JSON text. A skill that is not stored is skipped.
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
 * Returns the fault PROGRAM_MIXES_SANDBOX if a program calls both real apps and emulated ones, because rows that the sandbox invents could
 * then be written to a real app. Returns undefined if it does not.
 */
export function faultOfMixed({ played, live }: ToolkitSides): Fault | undefined {
  return played.length > 0 && live.length > 0 ? jobFaults.PROGRAM_MIXES_SANDBOX(played, live) : undefined;
}

/**
 * True if a job counts as a sandbox job, which its log states: the sandbox is on, and the program calls an emulated app or no app at all.
 */
export function isSandboxJob({ played, live }: ToolkitSides, mode: SandboxMode): boolean {
  return mode !== "off" && (played.length > 0 || live.length === 0);
}
