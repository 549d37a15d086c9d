import { setTimeout as wait } from "node:timers/promises";
import { repeats } from "@svc/testing/sample";
import { postCalendar } from "@svc/testing/server-process";

/** A load of posts with distinct numbers, from several clients at once, each going on as soon as it is answered. */
export type Load = {
  /** Numbers answered 2xx. */
  readonly acknowledged: Set<number>;
  /** Stops and waits for the posts under way; those that fail count as not acknowledged. */
  stop(): Promise<void>;
};

const restMs = repeats({ sample: 20, whole: 0 });
let next = 1;

/**
 * Starts a load on whatever listens at the address. What was not answered 2xx is posted again after a breath, as providers do: it may
 * have been stored all the same. In `npm test` a client rests
 * between two posts: what counts there is that some are under way, and other tests have work.
 */
export function startLoad(server: { url: string }, clients: number): Load {
  const acknowledged = new Set<number>();
  let isStopped = false;
  const client = async () => {
    let number = next++;
    while (!isStopped) {
      try {
        const status = await postCalendar(server, "load", number);
        if (status >= 200 && status < 300) {
          acknowledged.add(number);
          number = next++;
        }
        await wait(restMs);
      } catch {
        await wait(20);
      }
    }
  };
  const running = Array.from({ length: clients }, client);
  return {
    acknowledged,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

/** The message numbers that a receiver was handed. */
export function numbersOf(received: readonly { body: string }[]): Set<number> {
  return new Set(
    received.map(({ body }) => (JSON.parse(body) as { payload: { message_number: number } }).payload.message_number),
  );
}
