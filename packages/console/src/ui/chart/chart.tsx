import { type KeyboardEvent, type ReactNode, Suspense, useId, useState } from "react";
import { usePreferences } from "../../shell/preferences.ts";
import { classNames } from "../class-names.ts";
import { laterPart } from "../later-part.tsx";
import { Section } from "../layout/section.tsx";
import { Table } from "../rows/table.tsx";
import styles from "./chart.module.css";
import {
  type ChartData,
  dashOf,
  pointOfKey,
  pointWords,
  stepAt,
  stepWords,
  summaryWords,
  valueWords,
} from "./chart-data.ts";

const TimeChart = laterPart(() => import("./time-chart.tsx"));

/** The data of a chart, and the functions that it calls for actions of the user. */
export type ChartProps = {
  title: string;
  data: ChartData;
  /** True if the chart shows its numbers as a table. */
  asTable: boolean;
  /**
   * Draws a link to the list of the things that the chart counts, limited to the time from `sinceMs` to `untilMs`. `line`: only the things
   * of this line; undefined for all lines.
   */
  link: (words: ReactNode, of: { line?: string; sinceMs: number; untilMs: number }) => ReactNode;
  /**
   * Opens the list of the things that the chart counted (for example deliveries) between `sinceMs` and `untilMs`. These are the times of
   * one step on the chart's time axis.
   */
  onOpen: (sinceMs: number, untilMs: number) => void;
  /** Called when the user selects a range of time in the chart. The page then shows only this range. */
  onBrush: (sinceMs: number, untilMs: number) => void;
};

/**
 * A chart of values over time, with a legend and a sentence. It is an image in which the user can point at values by mouse or keyboard. If
 * `asTable` is true, it is a table of the same numbers.
 */
export function Chart(props: ChartProps) {
  const { title, data, asTable } = props;
  const [step, setStep] = useState<number>();
  const { zone } = usePreferences();
  const isEmpty = data.lines.length === 0;
  return (
    <Section title={title} boxed>
      {isEmpty ? (
        <p className={classNames(styles["plot"], styles["none"])}>None in this range.</p>
      ) : (
        <>
          {asTable ? <ChartTable {...props} /> : <Picture {...props} step={step} onStep={setStep} />}
          <Legend {...props} step={asTable ? undefined : step} />
          <p className={styles["words"]}>
            {step === undefined || asTable ? summaryWords(data, zone) : stepWords(data, step, zone)}
          </p>
        </>
      )}
    </Section>
  );
}

/** Fraction of the time range that the key `+` keeps visible on each side of the selected point in time. */
const zoomShare = 1 / 8;

function Picture({
  title,
  data,
  step,
  onStep,
  onOpen,
  onBrush,
}: ChartProps & { step: number | undefined; onStep: (step: number | undefined) => void }) {
  const { zone } = usePreferences();
  const helpId = useId();
  const open = (at: number) => {
    const { sinceMs, untilMs } = stepAt(data, at);
    onOpen(sinceMs, untilMs);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = pointOfKey(event.key, step, data.steps);
    if (to !== undefined) onStep(to);
    else if (event.key === "Enter" && step !== undefined) open(step);
    else if (event.key === "+" && step !== undefined) {
      const around = data.steps * data.stepMs * zoomShare;
      const { sinceMs, untilMs } = stepAt(data, step);
      onBrush(sinceMs - around, untilMs + around);
    } else return;
    event.preventDefault();
  };
  return (
    <div
      className={styles["plot"]}
      role="slider"
      tabIndex={0}
      aria-label={`${title}, values`}
      aria-describedby={helpId}
      aria-valuemin={0}
      aria-valuemax={data.steps - 1}
      aria-valuenow={step ?? data.steps - 1}
      aria-valuetext={pointWords(data, step ?? data.steps - 1, zone)}
      onKeyDown={onKeyDown}
      onBlur={() => onStep(undefined)}
    >
      <span id={helpId} className="visually-hidden">
        Arrow keys move between values, Enter opens the list, + zooms in.
      </span>
      <Suspense>
        <TimeChart data={data} zone={zone} step={step} onStep={onStep} onPress={open} onBrush={onBrush} />
      </Suspense>
    </div>
  );
}

function Legend({ data, step, link }: ChartProps & { step: number | undefined }) {
  const { sinceMs } = stepAt(data, step ?? 0);
  const { untilMs } = stepAt(data, step ?? data.steps - 1);
  return (
    <ul className={styles["legend"]}>
      {data.lines.map(({ id, label, tone, values, total }, place) => (
        <li key={id}>
          <svg width="24" height="8" aria-hidden="true" className={styles[tone]}>
            <line
              x1="0"
              x2="24"
              y1="4"
              y2="4"
              strokeWidth="2"
              stroke="currentColor"
              strokeDasharray={dashOf(place).join(" ")}
            />
          </svg>
          {link(label, { line: id, sinceMs, untilMs })}
          <b>{valueWords(data.of, step === undefined ? total : (values[step] ?? null))}</b>
        </li>
      ))}
    </ul>
  );
}

/** The numbers of a chart as a table, newest first. Time steps in which every number is 0 are left out. */
function ChartTable({ title, data, link }: ChartProps) {
  const { zone } = usePreferences();
  const steps = Array.from({ length: data.steps }, (_, index) => data.steps - 1 - index).filter((step) =>
    data.lines.some(({ values }) => (values[step] ?? 0) > 0),
  );
  return (
    <div className={styles["table"]}>
      <Table
        label={`${title}, as a table`}
        head={["Time", ...data.lines.map(({ label }) => label)]}
        rows={steps.map((step) => ({
          id: String(step),
          cells: [
            link(stepWords(data, step, zone), stepAt(data, step)),
            ...data.lines.map(({ values }) => valueWords(data.of, values[step] ?? null)),
          ],
        }))}
      />
    </div>
  );
}
