import { type Replay, ReplayState } from "@svc/sdk";
import { numberText } from "../../text/plain.ts";
import { timeText } from "../../text/table.ts";

const states: Readonly<Partial<Record<ReplayState, string>>> = {
  [ReplayState.RUNNING]: "running",
  [ReplayState.PAUSED]: "paused",
  [ReplayState.DONE]: "done",
  [ReplayState.CANCELLED]: "cancelled",
};

/** How a replay stands, in words: `running`, `waits for sub_… (backoff)`, `cancelled (requested)`. */
export function replayStateText({ state, reason, waitsFor }: Replay): string {
  const text = states[state] ?? "unknown";
  if (reason === "") return text;
  if (state !== ReplayState.RUNNING) return `${text} (${reason})`;
  return waitsFor === "" ? `waits (${reason})` : `waits for ${waitsFor} (${reason})`;
}

/** How far a replay is: `1,200 of 100,000 (1 %)`; what is not counted whole has a plus. */
export function progressText({ queued, total, totalComplete }: Replay): string {
  const percent = total === 0 ? 0 : Math.min(100, Math.floor((100 * queued) / total));
  const share = totalComplete && total > 0 ? ` (${percent} %)` : "";
  return `${numberText(queued)} of ${numberText(total)}${totalComplete ? "" : "+"}${share}`;
}

/** A replay as facts. */
export function replayFacts(replay: Replay): readonly (readonly [string, string])[] {
  const { id, since, until, toolkitSlug, triggerSlug, subscriptionId, onlyUndelivered, perSecond } = replay;
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
    ["only", onlyUndelivered ? "undelivered" : ""],
    ["started", timeText(replay.createdAt)],
    ["ended", replay.endedAt === undefined ? "" : timeText(replay.endedAt)],
  ];
}

/** Whether it queues nothing more, for good. */
export function hasEnded({ state }: Replay): boolean {
  return state === ReplayState.DONE || state === ReplayState.CANCELLED;
}
