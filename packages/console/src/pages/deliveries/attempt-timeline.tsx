import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Delivery } from "@svc/gen/triggers";
import { AttemptDot } from "../../ui/flow/attempt-dots.tsx";
import { Time } from "../../ui/values/time.tsx";
import { attemptWord } from "../../words/deliveries.ts";
import { durationWords } from "../../words/time.ts";
import styles from "./attempt-timeline.module.css";

/** One attempt of the timeline. `word`: how it ended; undefined for an attempt that is planned. `waitMs`: time since the attempt before. */
type Stop = {
  readonly number: number;
  readonly atMs: number;
  readonly waitMs: number | undefined;
  readonly word: string | undefined;
  readonly isOk: boolean;
};

/**
 * Draws all attempts of a delivery in order, including those that are still planned: a dot for each attempt, and the wait before it. Draws
 * nothing for a delivery without details.
 */
export function AttemptTimeline({ delivery }: { delivery: Delivery }) {
  const stops = stopsOf(delivery);
  if (stops.length === 0) return null;
  return (
    <ol className={styles["timeline"]} aria-label="Timeline of attempts">
      {stops.map(({ number, atMs, waitMs, word, isOk }) => (
        <li key={number} className={styles["stop"]}>
          {waitMs !== undefined && <span className={styles["wait"]}>{durationWords(waitMs)}</span>}
          <AttemptDot isOk={word === undefined ? undefined : isOk} isLarge />
          <span className={styles["words"]}>
            <b>{word ?? "planned"}</b>
            <span>
              Try {number}, <Time at={atMs} />
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}

function stopsOf({ attempts, attemptMarks, plannedAttempts }: Delivery): Stop[] {
  const first = Math.max(0, attempts - attemptMarks.length);
  const made = attemptMarks.map(({ at, error, statusCode }) => {
    const isOk = error === "";
    return { atMs: at === undefined ? 0 : timestampMs(at), word: attemptWord(error, statusCode).word, isOk };
  });
  const planned = plannedAttempts.map((at) => ({ atMs: timestampMs(at), word: undefined, isOk: false }));
  const all = [...made, ...planned];
  return all.map((stop, index) => {
    const before = all[index - 1];
    return { ...stop, number: first + index + 1, waitMs: before && Math.max(0, stop.atMs - before.atMs) };
  });
}
