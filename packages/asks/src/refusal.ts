import { type Fault, storableText } from "@svc/core";
import {
  type AskRecord,
  appendJobEvents,
  countRefusalEvents,
  countRefusedAnswer,
  type Executor,
  findPendingAsk,
  type LockedJob,
  listJobAsks,
} from "@svc/db";
import { askEvent } from "./ask-event.ts";
import type { AnswerRequest } from "./types.ts";

/** A refused answer on its way to the log. */
export type RefusalRecord = {
  readonly refusal: Fault;
  /** The ask that the answer was for, as far as it is known. */
  readonly ask: AskRecord | undefined;
  readonly job: LockedJob;
  readonly request: AnswerRequest;
  readonly nowMs: number;
};

/** Of an ask so many refusals are logged; more are counted alone. */
const loggedMax = 100;
const excerptMax = 100;

/** Logs a refused answer under the job's lock, or counts it. One that names no ask of the job counts towards its present or last ask. */
export async function recordRefusal(tx: Executor, record: RefusalRecord): Promise<void> {
  const { job, request, nowMs } = record;
  const ask = record.ask ?? (await findPendingAsk(tx, job.id)) ?? (await listJobAsks(tx, job.id)).at(-1);
  const count =
    ask === undefined ? (await countRefusalEvents(tx, job.id, loggedMax)) + 1 : await countRefusedAnswer(tx, ask.id);
  if (count > loggedMax) return;
  const payload = {
    reason: record.refusal.details[0]?.reason ?? "",
    // As they came: whoever reads the log sees what was tried, in bounded length.
    principalId: excerpt(request.principalId),
    continuation: excerpt(request.continuation),
    ...(request.requestId !== "" && { named: excerpt(request.requestId) }),
  };
  const chain = [`key:${request.keyId}`];
  const event =
    ask === undefined
      ? { type: "answer-refused", stepId: "", payload: JSON.stringify(payload), principalChain: chain }
      : askEvent("answer-refused", ask, payload, chain);
  await appendJobEvents(tx, job.id, [event], nowMs);
}

function excerpt(text: string): string {
  return storableText(text.slice(0, excerptMax));
}
