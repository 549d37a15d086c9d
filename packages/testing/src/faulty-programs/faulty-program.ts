import { everyConstruct } from "../programs.ts";

type Editable = Record<string, unknown> & {
  steps: Record<string, unknown>[];
  points: Record<string, Record<string, unknown>>;
};

/**
 * A program with faults: the change that is made to a valid program, and the expected faults in order, each with its code (without
 * PROGRAM_) and pointer.
 */
export type FaultyProgram = {
  readonly name: string;
  readonly program: unknown;
  readonly faults: readonly string[];
};

/**
 * Creates a faulty program by editing the valid program at paths such as `steps/0/args`. The value undefined removes the part at a path.
 */
export function faulty(
  name: string,
  edits: Readonly<Record<string, unknown>>,
  faults: readonly string[],
): FaultyProgram {
  const program = everyConstruct() as unknown as Editable;
  for (const [path, value] of Object.entries(edits)) {
    const steps = path.split("/");
    const last = steps.pop() ?? "";
    let holder: Record<string, unknown> = program;
    for (const step of steps) holder = holder[step] as Record<string, unknown>;
    if (value === undefined) delete holder[last];
    else holder[last] = value;
  }
  return { name, program, faults };
}

/** Returns a step that waits for one minute. */
export const pause = (id: string) => ({ id, wait: "1m" });
/** Returns a step with a call that reads. */
export const get = (id: string, args: unknown = {}) => ({ id, call: "messaging_bot.get_me", entity: "ops", args });
/** Returns a step with a call that writes. */
export const send = (id: string, args: unknown = { chat_id: "@team", text: "Hello" }) => ({
  id,
  call: "messaging_bot.send_message",
  entity: "ops",
  args,
});
/** Returns a step with a destructive call. */
export const remove = (args: object) => ({ id: "drop", call: "messaging_bot.delete_message", entity: "ops", args });
