/** A write that a simulation did not send. `argumentsJson`: its arguments as people see them; empty if they are too long. */
export type SimulatedCall = {
  readonly callId: string;
  /** Number of the row (in the job's list of rows) for which the unsent write would have been made. 0 for a step without rows. */
  readonly ordinal: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly argumentsJson: string;
};

/** The unsent writes of a simulation, by step. For each step: the number of writes, and the first of them. */
export type SimulatedCalls = Readonly<
  Record<string, { readonly count: number; readonly first: readonly SimulatedCall[] }>
>;

/**
 * Write calls that one action of a step did not send, because the job is a simulation. `count`: number of these calls. `calls`: the first
 * of them, with contents that people may see.
 */
export type UnsentWrites = { readonly count: number; readonly calls: readonly SimulatedCall[] };

/** A simulation run keeps the contents of at most this many unsent writes for each call of the program. */
const callsMax = 10;

const charactersMax = 65_536;

/**
 * True if a simulation run may keep the content of one more unsent write of this call. It keeps at most 10 for each call of the program.
 */
export function showsMore(simulated: SimulatedCalls, stepId: string, callId: string): boolean {
  const shown = simulated[stepId]?.first.filter((call) => call.callId === callId) ?? [];
  return shown.length < callsMax;
}

/**
 * Returns the record of the writes that a simulation run did not send, after more writes of a step. It counts all writes, and keeps the
 * contents of the first writes of each call.
 */
export function withWrites(simulated: SimulatedCalls, stepId: string, { count, calls }: UnsentWrites): SimulatedCalls {
  const { count: before = 0, first = [] } = simulated[stepId] ?? {};
  let shown: SimulatedCalls = { ...simulated, [stepId]: { count: before + count, first } };
  let characters = 0;
  for (const step of Object.values(simulated)) {
    for (const { argumentsJson } of step.first) characters += argumentsJson.length;
  }
  for (const call of calls) {
    const step = shown[stepId];
    characters += call.argumentsJson.length;
    if (step === undefined || characters > charactersMax) break;
    if (showsMore(shown, stepId, call.callId))
      shown = { ...shown, [stepId]: { ...step, first: [...step.first, call] } };
  }
  return shown;
}
