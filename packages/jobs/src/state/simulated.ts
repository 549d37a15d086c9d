/** A write that a simulation did not send. `argumentsJson`: its arguments for display, empty if too long. */
export type SimulatedCall = {
  readonly callId: string;
  /** Ordinal of the row. 0 for a step without rows. */
  readonly ordinal: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly argumentsJson: string;
};

/** The writes of a simulation by step: their number, and the first of them. */
export type SimulatedCalls = Readonly<
  Record<string, { readonly count: number; readonly first: readonly SimulatedCall[] }>
>;

/** Unsent writes of a step action: their number, and those that may be shown. */
export type UnsentWrites = { readonly count: number; readonly calls: readonly SimulatedCall[] };

/** Number of calls shown for each call of a step, and characters of all shown arguments of a job. */
const callsMax = 10;

const charactersMax = 65_536;

/** True if another write of a call may be shown. */
export function showsMore(simulated: SimulatedCalls, stepId: string, callId: string): boolean {
  const shown = simulated[stepId]?.first.filter((call) => call.callId === callId) ?? [];
  return shown.length < callsMax;
}

/** Adds writes of a step. The first of each call are shown, in the order of their rows. */
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
