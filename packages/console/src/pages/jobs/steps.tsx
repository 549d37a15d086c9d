import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JobStep, StepReceipt } from "@svc/gen/jobs";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { classNames } from "../../ui/class-names.ts";
import { Icon } from "../../ui/icon.tsx";
import { callOutcomes } from "../../words/calls.ts";
import { stepWord } from "../../words/jobs.ts";
import { durationWords } from "../../words/time.ts";
import { labelOf } from "../../words/word.ts";
import { type Bar, placeBars } from "./bars.ts";
import { rowWords } from "./job-words.ts";
import { allSteps, type ListedStep } from "./program.ts";
import styles from "./steps.module.css";

const route = getRouteApi("/p/$projectId/jobs/$jobId");

/**
 * The present state of a step. `receipt`: the part of the job's final report (receipt) about this step; undefined before the step starts.
 * `bar`: bar that shows the step's time; undefined before the step runs.
 */
type StepNow = {
  step: JobStep;
  receipt: StepReceipt | undefined;
  bar: Bar | undefined;
  /** Time at which the job ended, in epoch milliseconds. Undefined while the job has not ended. */
  endedAt: number | undefined;
};

/** Draws one step: its state, its action, its rows, and the time when it ran. Pressing it shows only the step's entries in the log. */
function StepLine({
  step,
  now,
  isSelected,
  onPress,
}: {
  step: ListedStep;
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
        title={`${word.says} Press to filter the log.`}
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
        <span className={styles["state"]}>{labelOf(word)}</span>
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

/**
 * Draws a link to the list of the job's calls that failed with this error code. A user finds the app's error messages there. Draws nothing
 * if the code is not an outcome of calls.
 */
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

/** Draws how long a step ran. If it still runs, draws the time so far. */
function Ran({ now: { step, endedAt } }: { now: StepNow }) {
  const at = useNow();
  if (step.startedAt === undefined) return null;
  const to = step.finishedAt === undefined ? (endedAt ?? at) : timestampMs(step.finishedAt);
  return <>{durationWords(Math.max(0, to - timestampMs(step.startedAt)))}</>;
}

/**
 * Kinds of steps without work of their own: they wait, ask a person, or end the job (`fail`). The chart has no bars for these steps. So its
 * time axis is shortened while nothing else runs.
 */
const idle = ["wait", "judge", "fail"];

/** Draws the steps of a job in the program's order. A step that is inside another step is indented behind a line. */
export function Steps({
  program,
  steps,
  receipts,
  endedAt,
  selected,
  onSelect,
}: {
  program: readonly ListedStep[];
  steps: readonly JobStep[];
  receipts: readonly StepReceipt[];
  /** End of the job in milliseconds. The bars of steps that still ran at that time end there. */
  endedAt: number | undefined;
  /** Id of the step whose log is shown. */
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
}) {
  const now = useNow();
  const known = allSteps(program);
  const works = new Map(known.map(({ id, kind, blocks }) => [id, blocks.length === 0 && !idle.includes(kind)]));
  const bars = placeBars(
    steps
      .filter(({ stepId, startedAt }) => startedAt !== undefined && works.get(stepId) !== false)
      .map(({ stepId, startedAt, finishedAt }) => ({
        id: stepId,
        from: startedAt === undefined ? 0 : timestampMs(startedAt),
        to: finishedAt === undefined ? endedAt : timestampMs(finishedAt),
      })),
    now,
  );
  const receiptOf = new Map(receipts.map((receipt) => [receipt.stepId, receipt]));
  const nowOf = new Map<string, StepNow>(
    steps.map((step) => [
      step.stepId,
      { step, receipt: receiptOf.get(step.stepId), bar: bars.get(step.stepId), endedAt },
    ]),
  );
  return <StepList steps={program} nowOf={nowOf} selected={selected} onSelect={onSelect} />;
}

function StepList({
  steps,
  nowOf,
  selected,
  onSelect,
}: {
  steps: readonly ListedStep[];
  nowOf: ReadonlyMap<string, StepNow>;
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
}) {
  return (
    <ol className={styles["list"]}>
      {steps.map((step) => (
        <li key={step.id}>
          <StepLine
            step={step}
            now={nowOf.get(step.id)}
            isSelected={selected === step.id}
            onPress={() => onSelect(selected === step.id ? undefined : step.id)}
          />
          {step.blocks.map((block) => (
            <div key={block.name} className={styles["block"]}>
              <p className={styles["blockName"]}>{blockWords(block.name, block.kind, nowOf.get(step.id)?.step)}</p>
              <StepList steps={block.steps} nowOf={nowOf} selected={selected} onSelect={onSelect} />
            </div>
          ))}
        </li>
      ))}
    </ol>
  );
}

/** Returns the name of a group of steps. After a condition has run, the names of its branches also say `taken` or `not taken`. */
function blockWords(name: string, kind: string, step: JobStep | undefined): string {
  if ((kind === "then" || kind === "else") && step !== undefined && step.branch !== "") {
    return step.branch === name ? `${name}, taken` : `${name}, not taken`;
  }
  return name;
}
