import type { Action, Toolkit } from "@svc/catalog";
import type { ProjectId } from "@svc/core";
import { type Executor, loadJobProgram } from "@svc/db";
import { createPinReader, type PinnedTools, type Pins } from "../program/pins.ts";
import type { Program } from "../program/program.ts";
import { parseCheckedProgram } from "../program/read-program.ts";
import { type Flow, flatten } from "./flow.ts";

/** A definition that a job runs on. */
export type PinnedTool = { readonly toolkit: Toolkit; readonly action: Action };

function pinReader(): (pins: string) => PinnedTools {
  const reader = createPinReader();
  return (pins) => reader.tools(JSON.parse(pins) as Pins);
}

/** A program ready to run, with the definitions it is pinned to by tool slug. */
export type LoadedProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly flow: Flow;
  readonly tools: PinnedTools;
};

/** Programs of this node by content. */
export type ProgramCache = {
  get(db: Executor, projectId: ProjectId, digest: Uint8Array): Promise<LoadedProgram>;
};

/** Programs a node keeps; the one unused for longest goes first. */
const programsMax = 500;

/** Makes a cache. `readPins` turns the pinned definitions of a program into tools by slug; tests may give their own. */
export function createProgramCache(readPins: (pins: string) => PinnedTools = pinReader()): ProgramCache {
  const known = new Map<string, LoadedProgram>();
  return {
    async get(db, projectId, digest) {
      const key = `${projectId}/${Buffer.from(digest).toString("hex")}`;
      const loaded = known.get(key) ?? (await load(db, projectId, digest));
      known.delete(key);
      known.set(key, loaded);
      const oldest = known.size > programsMax ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
      return loaded;
    },
  };

  async function load(db: Executor, projectId: ProjectId, digest: Uint8Array): Promise<LoadedProgram> {
    const record = await loadJobProgram(db, projectId, digest);
    if (record === undefined) throw new Error(`the program of a job of ${projectId} is gone from the store`);
    const program = parseCheckedProgram(record.program);
    const tools = readPins(record.pins);
    return { program, programHash: record.programHash, flow: flatten(program.steps), tools };
  }
}
