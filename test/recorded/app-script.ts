import type { AppTransport } from "@svc/connections";
import { identityOf, recordedAnswer, replayedAnswer, type SentRequest, sentRequest } from "./app-request.ts";
import type { History, RecordedRequest } from "./history.ts";

/** The outside world of a recorded run, taken up at one of its entries. */
export type AppScript = {
  readonly transport: AppTransport;
  /** What the apps have seen by now: the requests before the entry, then those of the engine that went on. */
  readonly seen: readonly RecordedRequest[];
  /** Requests that the recorded run did not make, or that nobody may make again. */
  readonly refused: readonly string[];
};

/** Where a recorded run is taken up. */
export type TakenUp = {
  /** Of the entry. */
  readonly index: number;
  /** Whether the state is torn: only then may there be requests that the run itself did not make. */
  readonly isTorn: boolean;
  /** Told the place in the recording of each request before it is answered. */
  onRequest(place: number): Promise<void>;
  /** Answers, while a recording is made, what is new in it. */
  readonly apps?: AppTransport | undefined;
};

/**
 * Plays the apps from an entry on: each request is answered as the next equal one of the recording was. What the apps had seen
 * and the job had not committed is answered once more, in its order: reads, writes that the app said it did not do (a 4xx),
 * and of writes under a key of the app's the one that was under way. Beyond that a read may come again at any time, and a write with
 * a key under the same key, which is one write to the app; any other write that the apps had seen is refused.
 */
export function createAppScript(
  { entries, requests: own, more }: Pick<History, "entries" | "requests"> & { readonly more: RecordedRequest[] },
  { index, isTorn, onRequest, apps }: TakenUp,
): AppScript {
  const requests = isTorn ? [...own, ...more] : [...own];
  const sent = entries[index]?.requests ?? 0;
  const settled = entries.slice(0, index + 1).findLast(({ point }) => point === "after-commit")?.requests ?? 0;
  const identities = requests.map(identityOf);
  const isLast = (place: number) => identities.lastIndexOf(identities[place] as string, sent - 1) === place;
  const isOpen = (request: RecordedRequest, place: number) => {
    if (place >= sent) return true;
    if (place < settled) return false;
    return request.class === "read" || wasNotDone(request) || (isTorn && request.key !== "" && isLast(place));
  };
  const open = new Set([...requests.keys()].filter((place) => isOpen(requests[place] as RecordedRequest, place)));
  const seen = requests.slice(0, sent);
  const refused: string[] = [];
  const placeOf = (request: SentRequest): number => {
    const identity = identityOf(request);
    const next = [...open].find((place) => identities[place] === identity);
    const mayRepeat = request.class === "read" || request.key !== "";
    return next ?? (mayRepeat ? identities.lastIndexOf(identity) : -1);
  };
  const transport: AppTransport = {
    async send(appRequest, call, options) {
      const request = sentRequest(appRequest, call);
      const place = placeOf(request);
      const recorded = requests[place];
      if (recorded !== undefined) {
        seen.push(recorded);
        open.delete(place);
        await onRequest(place);
        return replayedAnswer(recorded.answer);
      }
      if (apps === undefined || identities.includes(identityOf(request))) {
        refused.push(identityOf(request));
        return { kind: "unreachable", message: "the recording does not contain this request" };
      }
      const answer = await apps.send(appRequest, call, options);
      const added = { ...request, answer: recordedAnswer(answer) };
      more.push(added);
      seen.push(added);
      return answer;
    },
  };
  return { seen, refused, transport };
}

/** Whether an app gave its word that it did nothing. */
export function wasNotDone({ answer }: Pick<RecordedRequest, "answer">): boolean {
  return answer.kind === "answer" && answer.status >= 400 && answer.status < 500;
}
