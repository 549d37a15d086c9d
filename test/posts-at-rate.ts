import { setTimeout as wait } from "node:timers/promises";
import { postCalendar } from "@svc/testing/server-process";

/** A load of posts at a fixed rate, which does not depend on the answers. */
export type PostsAtRate = {
  /** Numbers of the posts that were answered 2xx, with the time in epoch milliseconds. */
  readonly accepted: ReadonlyMap<number, number>;
  /** Stops the load and waits for posts under way. Returns how many were accepted in a second. */
  stop(): Promise<number>;
};

const everyMs = 20;
/** Largest number of posts under way. A machine that is too slow for the rate posts less, and the result shows it. */
const underWayMax = 300;

/** Starts to post messages of a calendar channel, numbered from 1. Stopping rejects if a post was refused. */
export function startPosts(
  server: { url: string },
  { channel, perSecond }: { channel: string; perSecond: number },
): PostsAtRate {
  const accepted = new Map<number, number>();
  const refused: string[] = [];
  const startedAt = performance.now();
  let isStopped = false;
  let number = 0;
  let left = 0;
  const underWay = new Set<Promise<void>>();
  const post = async (message: number) => {
    const status = await postCalendar(server, channel, message);
    if (status < 300) accepted.set(message, Date.now());
    else refused.push(`${message}: ${status}`);
  };
  const posting = (async () => {
    while (!isStopped) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond) - left;
      for (; number < due; ) {
        if (underWay.size >= underWayMax) {
          left += due - number;
          break;
        }
        const one = post(++number).finally(() => underWay.delete(one));
        underWay.add(one);
      }
      await wait(everyMs);
    }
  })();
  return {
    accepted,
    async stop() {
      isStopped = true;
      await posting;
      const seconds = (performance.now() - startedAt) / 1_000;
      await Promise.all(underWay);
      if (refused.length > 0) throw new Error(`posts were refused: ${refused.slice(0, 5).join(", ")}`);
      return accepted.size / seconds;
    },
  };
}
