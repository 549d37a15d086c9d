import { type Fault, storableText } from "@svc/core";
import { countRefusedAnswer, countUnaskedAnswer } from "@svc/db/asks/count-refused-answer";
import type { LockedJob } from "@svc/db/asks/lock-job";
import { type AskRecord, findPendingAsk, listJobAsks } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import { appendJobEvents } from "@svc/db/jobs/append-events";
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

/** Of an ask so many refusals are logged, each; beyond them entries say how many there are. */
const loggedMax = 100;
const excerptMax = 100;

/** Counts a refused answer under the job's lock, and logs it where it is told. One that names no ask of the job counts towards its present or last ask. */
export async function recordRefusal(tx: Executor, record: RefusalRecord): Promise<void> {
  const { job, request, nowMs } = record;
  const ask = record.ask ?? (await findPendingAsk(tx, job.id)) ?? (await listJobAsks(tx, job.id)).at(-1);
  const count = await (ask === undefined ? countUnaskedAnswer(tx, job.id) : countRefusedAnswer(tx, ask.id));
  if (!isLogged(count)) return;
  const payload = {
    reason: record.refusal.details[0]?.reason ?? "",
    // As they came: whoever reads the log sees what was tried, in bounded length.
    principalId: excerpt(request.principalId),
    continuation: excerpt(request.continuation),
    ...(request.requestId !== "" && { named: excerpt(request.requestId) }),
    ...(count > loggedMax && { counted: count }),
  };
  const chain = [`key:${request.keyId}`];
  const event =
    ask === undefined
      ? { type: "answer-refused", stepId: "", payload: JSON.stringify(payload), principalChain: chain }
      : askEvent("answer-refused", ask, payload, chain);
  await appendJobEvents(tx, job.id, [event], nowMs);
}

/** Each of the first, and then one whenever there are twice as many. */
function isLogged(count: number): boolean {
  return count <= loggedMax || Number.isInteger(Math.log2(count / loggedMax));
}

function excerpt(text: string): string {
  return storableText(text.slice(0, excerptMax));
}
