import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { StatsService } from "@svc/gen/stats";
import { keepPreviousData } from "@tanstack/react-query";
import { type KeyboardEvent, type PointerEvent, useId, useState } from "react";
import { failureOf } from "../calls/fault.ts";
import { useNow } from "../clock.ts";
import { usePreferences } from "../shell/preferences.ts";
import { type ChartData, pointOfKey, pointWords, valueWords } from "../ui/chart/chart-data.ts";
import type { TimeSpan } from "../words/spans.ts";
import { clockWords } from "../words/time.ts";
import {
  histogramData,
  histogramSpan,
  ignoredWords,
  type ListHistogram,
  seriesOf,
  spanOfBars,
} from "./histogram-data.ts";
import styles from "./list-histogram.module.css";

const minuteMs = 60_000;
/** Interval at which the counts are read again, in milliseconds. Nodes add their counts every ten seconds. */
const lookMs = 10_000;

/** Draws the bars above a list, over the list's time range. A press on a bar, or a drag over several, sets the range. */
export default function Histogram({
  of,
  search,
  change,
}: {
  of: ListHistogram<TimeSpan>;
  search: TimeSpan;
  change: (to: TimeSpan) => void;
}) {
  const now = useNow(minuteMs);
  const span = histogramSpan(search, now);
  const { has: _, ...subject } = of.of(search);
  const { data: answer, error } = useQuery(
    StatsService.method.querySeries,
    {
      ...{ series: [seriesOf[of.series]], ...subject, stepSeconds: (span?.stepMs ?? minuteMs) / 1_000 },
      ...{ since: timestampFromMs(span?.sinceMs ?? 0), until: timestampFromMs(span?.untilMs ?? 0) },
    },
    {
      enabled: span !== undefined,
      refetchInterval: ({ state }) => (state.error === null ? lookMs : false),
      placeholderData: keepPreviousData,
      retry: false,
    },
  );
  if (span === undefined) return <p className={styles["none"]}>The range ends before it starts.</p>;
  if (answer === undefined)
    return <p className={styles["none"]}>{error !== null && `No counts over time: ${failureOf(error).message}`}</p>;
  return (
    <Bars
      title={of.counts}
      when={whenWords(search)}
      data={histogramData(answer, of, search)}
      note={[listTimeWords(of), ignoredWords(of, search)].filter((words) => words !== "").join(" ")}
      onSpan={(data, from, to) => change(spanOfBars(data, from, to, now))}
    />
  );
}

/** Returns a sentence about the time by which the list goes, if it differs from the time of the counts. Empty otherwise. */
function listTimeWords({ listTime }: ListHistogram<TimeSpan>): string {
  return listTime === undefined ? "" : `The list goes by the time of ${listTime}.`;
}

/** Returns the time of the counts, such as `, last 24 hours`, if the list has no range. Empty otherwise. */
function whenWords({ range, since, until }: TimeSpan): string {
  if (range !== undefined || since !== undefined) return "";
  return until === undefined ? ", last 24 hours" : ", 24 hours before the end";
}

/** The bars that the user chooses: from where the drag began to where it is now. */
type Drag = { readonly from: number; readonly to: number };

function Bars({
  title,
  when,
  data,
  note,
  onSpan,
}: {
  title: string;
  when: string;
  data: ChartData;
  note: string;
  onSpan: (data: ChartData, from: number, to: number) => void;
}) {
  const { zone } = usePreferences();
  const helpId = useId();
  const [drag, setDrag] = useState<Drag>();
  const [point, setPoint] = useState<number>();
  const { steps, stepMs, startMs, lines } = data;
  const last = steps - 1;
  const barOf = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(last, Math.max(0, Math.floor(((clientX - left) * steps) / width)));
  };
  const choose = ({ from, to }: Drag) => {
    setDrag(undefined);
    setPoint(undefined);
    onSpan(data, from, to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = pointOfKey(event.key, point, steps);
    if (to !== undefined) {
      setPoint(to);
      setDrag(event.shiftKey ? { from: drag?.from ?? point ?? to, to } : undefined);
    } else if (event.key === "Enter" && point !== undefined) choose(drag ?? { from: point, to: point });
    else if (event.key === "Escape" && drag !== undefined) setDrag(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const sums = lines.map(({ label, total }) => `${label} ${valueWords("counts", total)}`.trim());
  const all = sums.length === 0 ? "none" : sums.join(", ");
  const ends = [startMs, startMs + (steps * stepMs) / 2, startMs + steps * stepMs];
  return (
    <div className={styles["frame"]}>
      <div
        className={styles["plot"]}
        role="slider"
        tabIndex={0}
        aria-label={`${title} over time${when}`}
        aria-describedby={helpId}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={point ?? last}
        aria-valuetext={pointWords(data, point ?? last, zone)}
        onKeyDown={onKeyDown}
        onBlur={() => {
          setPoint(undefined);
          setDrag(undefined);
        }}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: barOf(event), to: barOf(event) });
        }}
        onPointerMove={(event) => {
          const at = barOf(event);
          setPoint(at);
          if (drag !== undefined && event.buttons !== 0) setDrag({ from: drag.from, to: at });
        }}
        onPointerUp={(event) => drag !== undefined && choose({ from: drag.from, to: barOf(event) })}
        onPointerCancel={() => {
          setDrag(undefined);
          setPoint(undefined);
        }}
        onPointerLeave={() => drag === undefined && setPoint(undefined)}
      >
        <span id={helpId} className="visually-hidden">
          Arrow keys move between bars, with Shift they choose several, Enter shows the rows of that time.
        </span>
        <Picture data={data} point={point} drag={drag} />
      </div>
      <div className={styles["axis"]} aria-hidden="true">
        {ends.map((at) => (
          <span key={at}>{clockWords(at, zone).slice(5, 16)}</span>
        ))}
      </div>
      <p className={styles["words"]}>
        {`${title}${when}`}: {point === undefined ? all : pointWords(data, point, zone)}. {note}
      </p>
    </div>
  );
}

const height = 40;

/** Draws the bars, with the outcomes above each other. */
function Picture({
  data: { steps, lines },
  point,
  drag,
}: {
  data: ChartData;
  point: number | undefined;
  drag: Drag | undefined;
}) {
  const sums = Array.from({ length: steps }, (_, step) =>
    lines.reduce((sum, line) => sum + (line.values[step] ?? 0), 0),
  );
  const most = Math.max(1, ...sums);
  const chosen = drag ?? (point === undefined ? undefined : { from: point, to: point });
  return (
    <svg className={styles["bars"]} viewBox={`0 0 ${steps} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {chosen !== undefined && (
        <rect
          className={styles["chosen"]}
          x={Math.min(chosen.from, chosen.to)}
          width={Math.abs(chosen.to - chosen.from) + 1}
          height={height}
        />
      )}
      {sums.map((_sum, step) => {
        let top = height;
        return lines.map(({ id, tone, values }) => {
          const count = values[step] ?? 0;
          if (count === 0) return null;
          const tall = Math.max(1.5, (count * (height - 4)) / most);
          top -= tall;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the index of a bar is its position in time
            <rect key={`${step} ${id}`} className={styles[tone]} x={step + 0.1} y={top} width={0.8} height={tall} />
          );
        });
      })}
    </svg>
  );
}
