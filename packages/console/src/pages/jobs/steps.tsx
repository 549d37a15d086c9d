import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JobStep, StepReceipt } from "@svc/gen/jobs";
import { useNow } from "../../clock.ts";
import { placeBars } from "./bars.ts";
import { allSteps, type ProgramStep } from "./program.ts";
import { StepLine, type StepNow } from "./step-line.tsx";
import styles from "./steps.module.css";

/** Steps in which nothing runs: their time is folded. */
const idle = ["wait", "judge", "fail"];

/** The steps of a job as its program has them: one below the other, what stands within a step behind a rail. */
export function Steps({
  program,
  steps,
  receipts,
  endedAt,
  selected,
  onSelect,
}: {
  program: readonly ProgramStep[];
  steps: readonly JobStep[];
  receipts: readonly StepReceipt[];
  /** When the job ended, in milliseconds: what still ran then ended with it. */
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
  steps: readonly ProgramStep[];
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

/** The name of a block, with what became of it: which branch was taken, how many rounds there were. */
function blockWords(name: string, kind: string, step: JobStep | undefined): string {
  if ((kind === "then" || kind === "else") && step !== undefined && step.branch !== "") {
    return step.branch === name ? `${name}, taken` : `${name}, not taken`;
  }
  return name;
}
