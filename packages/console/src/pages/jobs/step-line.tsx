import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JobStep, StepReceipt } from "@svc/gen/jobs";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { classNames } from "../../ui/class-names.ts";
import { Icon } from "../../ui/icon.tsx";
import { callOutcomes } from "../../words/calls.ts";
import { stepWord } from "../../words/jobs.ts";
import { durationWords } from "../../words/time.ts";
import type { Bar } from "./bars.ts";
import type { ProgramStep } from "./program.ts";
import { rowWords } from "./row-words.ts";
import styles from "./steps.module.css";

const route = getRouteApi("/p/$projectId/jobs/$jobId");

/** How a step stands: its progress, its receipt once it began, its bar once it ran. */
export type StepNow = {
  step: JobStep;
  receipt: StepReceipt | undefined;
  bar: Bar | undefined;
  /** When the job ended, in milliseconds. */
  endedAt: number | undefined;
};

/** One step: its state, what it does, its rows, and when it ran. A press shows its log alone. */
export function StepLine({
  step,
  now,
  isSelected,
  onPress,
}: {
  step: ProgramStep;
  now: StepNow | undefined;
  isSelected: boolean;
  onPress: () => void;
}) {
  const word = stepWord(now?.step.state ?? "waiting");
  const errors = now?.receipt?.errors ?? [];
  return (
    <>
      <button
        type="button"
        className={classNames(styles["line"], isSelected && styles["selected"])}
        aria-pressed={isSelected}
        onClick={onPress}
        title={`${word.says} Press for its log alone.`}
      >
        <span className={classNames(styles["sign"], styles[word.tone])}>
          <Icon name={word.icon} />
        </span>
        <span className={styles["name"]}>
          <span>
            <b>{step.id}</b> <span className={styles["kind"]}>{step.kind}</span>
          </span>
          {step.says !== "" && <span className={styles["says"]}>{step.says}</span>}
        </span>
        <span className={styles["state"]}>{word.word}</span>
        <span className={styles["rows"]}>{now === undefined ? "" : rowWords(now.step, now.receipt)}</span>
        <span className={styles["track"]} aria-hidden="true">
          {now?.bar !== undefined && (
            <span
              className={classNames(styles["bar"], styles[word.tone])}
              style={{ left: `${now.bar.left}%`, width: `${now.bar.width}%` }}
            />
          )}
        </span>
        <span className={styles["time"]}>{now !== undefined && <Ran now={now} />}</span>
      </button>
      {step.calls.length > 0 && (
        <ul className={styles["calls"]}>
          {step.calls.map((call) => (
            <li key={call.id}>
              for each row <b>{call.id}</b> {call.says}
              {call.when !== "" && ` when ${call.when}`}
              {call.undo !== "" && `, undone by ${call.undo}`}
            </li>
          ))}
        </ul>
      )}
      {errors.map(({ code, count, sample }) => (
        <p key={code} className={styles["error"]}>
          <b>{code}</b> {count > 1 && `× ${count} `}
          {sample} <FailedCalls code={code} />
        </p>
      ))}
    </>
  );
}

/** Leads to the calls of the job with this outcome, each with the message of the app. Nothing for a code that no call has. */
function FailedCalls({ code }: { code: string }) {
  const { projectId, jobId } = route.useParams();
  const outcome = callOutcomes.find((known) => known === code);
  if (outcome === undefined) return null;
  return (
    <Link to="/p/$projectId/calls" params={{ projectId }} search={{ job: jobId, outcome }}>
      See the calls
    </Link>
  );
}

/** How long a step ran, or runs. */
function Ran({ now: { step, endedAt } }: { now: StepNow }) {
  const at = useNow();
  if (step.startedAt === undefined) return null;
  const to = step.finishedAt === undefined ? (endedAt ?? at) : timestampMs(step.finishedAt);
  return <>{durationWords(Math.max(0, to - timestampMs(step.startedAt)))}</>;
}
