import { constants } from "node:os";
import { systemClock } from "@svc/core";
import { ReplaySchema, TriggersService } from "@svc/gen/triggers";
import { type Replay, ReplayState, type SvcClient } from "@svc/sdk";
import type { ProjectOptions } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { numberText, spanText } from "../../text/plain.ts";
import { timeText } from "../../text/table.ts";
import { createPaceMeter } from "../jobs/watch/step.ts";

const states: Readonly<Partial<Record<ReplayState, string>>> = {
  [ReplayState.RUNNING]: "running",
  [ReplayState.PAUSED]: "paused",
  [ReplayState.DONE]: "done",
  [ReplayState.CANCELLED]: "cancelled",
};

/** Returns the state of a replay (for example `running`, `waits for sub_… (backoff)` or `cancelled (requested)`). */
export function replayStateText({ state, reason, waitsFor }: Replay): string {
  const text = states[state] ?? "unknown";
  if (reason === "") return text;
  if (state !== ReplayState.RUNNING) return `${text} (${reason})`;
  return waitsFor === "" ? `waits (${reason})` : `waits for ${waitsFor} (${reason})`;
}

/** Returns the progress of a replay (for example `1,200 of 100,000 (1 %)`). If svc has not counted all events, the total has a plus. */
export function progressText({ queued, total, totalComplete }: Replay): string {
  const percent = total === 0 ? 0 : Math.min(100, Math.floor((100 * queued) / total));
  const share = totalComplete && total > 0 ? ` (${percent} %)` : "";
  return `${numberText(queued)} of ${numberText(total)}${totalComplete ? "" : "+"}${share}`;
}

/** Returns the properties of a replay (a request to deliver events again) as pairs of name and value, for printing. */
export function replayFacts(replay: Replay): readonly (readonly [string, string])[] {
  const { id, since, until, toolkitSlug, triggerSlug, subscriptionId, onlyUndelivered, perSecond, states } = replay;
  return [
    ["id", id],
    ["state", replayStateText(replay)],
    ["queued", progressText(replay)],
    ["at", `${timeText(replay.positionAt)} ${replay.position}`.trimEnd()],
    ["pace", `${perSecond}/s`],
    ["since", timeText(since)],
    ["until", timeText(until)],
    ["toolkit", toolkitSlug],
    ["trigger", triggerSlug],
    ["subscription", subscriptionId],
    ["only", states.join(", ") || (onlyUndelivered ? "undelivered" : "")],
    ["started", timeText(replay.createdAt)],
    ["ended", replay.endedAt === undefined ? "" : timeText(replay.endedAt)],
  ];
}

/** True if the replay has ended and queues no further deliveries. */
function hasEnded({ state }: Replay): boolean {
  return state === ReplayState.DONE || state === ReplayState.CANCELLED;
}

const pollMs = 1_000;
const interruptedExitCode = 128 + constants.signals.SIGINT;

/** Help text that says how a watch of a replay ends. */
export const watchNotes = `
Progress goes to standard error, at a terminal as one line that is redrawn. Ctrl-C stops watching, and the replay continues.

Exit status: 0 done; 1 cancelled, or the service refused or was not reachable; 2 wrong options; 130 Ctrl-C.`;

/** Shows a replay until it has ended. Rejects with CommandError if the replay was cancelled or the user interrupted the watch. */
export async function watchReplay(
  { triggers }: Pick<SvcClient, "triggers">,
  id: string,
  { options, context }: { options: JsonOption; context: CommandContext },
): Promise<void> {
  const signal = context.untilInterrupted();
  const meter = createPaceMeter();
  let shown = "";
  for (;;) {
    const { replay } = await triggers.getReplay({ id });
    if (replay === undefined) return;
    const line = progressLine(replay, meter);
    if (context.screen !== undefined) context.screen.draw([{ text: line, style: "none" }]);
    else if (line !== shown) context.note(line);
    shown = line;
    if (hasEnded(replay)) return end(replay, { options, context });
    await systemClock.wait(pollMs, signal);
    if (signal.aborted) {
      const left = `the watch was interrupted; the replay continues: \`svc replays watch ${id}\``;
      throw new CommandError(left, interruptedExitCode);
    }
  }
}

function progressLine(replay: Replay, meter: ReturnType<typeof createPaceMeter>): string {
  const total = replay.totalComplete ? replay.total : undefined;
  const pace = meter.measure({ stepId: replay.id, atMs: systemClock.now(), done: replay.queued, total });
  const isMoving = replay.state === ReplayState.RUNNING && replay.reason === "" && pace !== undefined;
  const left = pace?.leftMs === undefined ? "" : `, ${spanText(pace.leftMs)} left`;
  const speed = isMoving ? `, ${numberText(Math.round(pace.perSecond))}/s${left}` : "";
  return `${replayStateText(replay)}: ${progressText(replay)}${speed}`;
}

function end(replay: Replay, { options, context }: { options: JsonOption; context: CommandContext }): void {
  context.screen?.keep();
  if (options.json) context.print(messageText(ReplaySchema, replay));
  if (replay.state === ReplayState.CANCELLED) throw new CommandError(`the replay was ${replayStateText(replay)}`, 1);
}

/** The command `svc replays watch`, which shows the progress of a replay until the replay ends. */
export const addReplayWatch = command(
  TriggersService.method.getReplay,
  {
    says: "show a replay's progress until it ends: deliveries queued, pace, time left, what it waits for",
    takes: { "<id>": "id of the replay, rpl_…" },
    json: "the replay at its end as JSON",
    more: watchNotes,
    examples: ["svc replays watch rpl_01h455vb4pex5vsknk084sn02q"],
  },
  async ({ values: options, context, project }: Run<ProjectOptions & JsonOption & { readonly id: string }>) => {
    const { id } = options;

    await watchReplay(await project(), id, { options, context });
  },
);
