import { useEffect, useRef, useState } from "react";
import { useFastNow } from "../../clock.ts";
import { clockWords, durationWords, type Zone } from "../../words/time.ts";
import type { Tone } from "../../words/word.ts";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import { barPlace, type FlowAxis } from "./axis.ts";
import styles from "./timeline-bar.module.css";

/** A bar of a job's timeline: a time span in which a step ran or waited. */
export type TimelineBar = {
  readonly id: string;
  /** Start and end in epoch milliseconds. `to` is undefined while the bar grows. */
  readonly from: number;
  readonly to: number | undefined;
  readonly look: Tone | "wait" | "undone";
  /** Round or attempt that the bar shows. 0 if the step has only one bar. */
  readonly number: number;
  /** Words that a screen reader says after the times, such as `done`. */
  readonly words: string;
};

/** Width in pixels from which a bar shows its number. */
const numberPx = 18;
/** Width in pixels of the icon of a wait with its margins, and of a letter of its length. */
const wait = { iconPx: 24, letterPx: 6.5 };

/** Draws one bar of a job's timeline. A screen reader reads the bar's start and end, so the page needs no second table of times. */
export function Bar({ bar, axis, zone }: { bar: TimelineBar; axis: FlowAxis; zone: Zone }) {
  return bar.to === undefined ? (
    <GrowingBar bar={bar} axis={axis} zone={zone} />
  ) : (
    <BarAt bar={bar} to={bar.to} axis={axis} zone={zone} />
  );
}

/** Draws the bar of a step that runs. It grows ten times a second while it is in view. */
function GrowingBar({ bar, axis, zone }: { bar: TimelineBar; axis: FlowAxis; zone: Zone }) {
  const element = useRef<HTMLSpanElement>(null);
  const [isInView, setIsInView] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(([entry]) => setIsInView(entry?.isIntersecting ?? false));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const now = useFastNow(isInView);
  return (
    <span ref={element} className={styles["growing"]}>
      <BarAt bar={bar} to={Math.max(bar.from, now)} axis={axis} zone={zone} />
    </span>
  );
}

function BarAt({ bar, to, axis, zone }: { bar: TimelineBar; to: number; axis: FlowAxis; zone: Zone }) {
  const { from, look, number } = bar;
  const place = barPlace(axis, { from, to });
  const words = barWords(bar, axis.zero);
  if (place === undefined) return <span className="visually-hidden">{words}</span>;
  const isNumbered = number > 0 && place.width >= numberPx;
  const length = look === "wait" ? durationWords(to - from) : "";
  return (
    <span
      className={classNames(styles["bar"], styles[look])}
      style={place}
      title={`${words}. Began at ${clockWords(from, zone).slice(11)}.`}
    >
      <span className="visually-hidden">{words}</span>
      {isNumbered && (
        <span className={styles["number"]} aria-hidden="true">
          {number}
        </span>
      )}
      {length !== "" && place.width >= wait.iconPx + length.length * wait.letterPx && (
        <span className={styles["length"]} aria-hidden="true">
          <Icon name="clock" size={12} />
          {length}
        </span>
      )}
    </span>
  );
}

/** Returns the text of a bar, such as `from 0 ms to 413 ms, done`. The times count from the start of the job's first step. */
function barWords({ from, to, words, number }: TimelineBar, zero: number): string {
  const start = durationWords(from - zero);
  const span = to === undefined ? `since ${start}` : `from ${start} to ${durationWords(to - zero)}`;
  return `${number > 0 ? `${number}: ` : ""}${span}, ${words}`;
}
