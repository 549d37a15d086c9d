import { type Job, JobStatus } from "@svc/gen/jobs";
import { classNames } from "../../ui/class-names.ts";
import { hasEnded, jobStatusWord } from "../../words/jobs.ts";
import styles from "./steps-bar.module.css";

/** Draws the steps of a job as a short bar with their number. The bar of a job that succeeded is full. */
export function StepsBar({ job: { stepsDone, stepsTotal, status } }: { job: Job }) {
  if (stepsTotal === 0) return null;
  const words = `${stepsDone} of ${stepsTotal}`;
  const share = status === JobStatus.SUCCEEDED ? 1 : stepsDone / stepsTotal;
  const { tone } = jobStatusWord(status);
  return (
    <span className={styles["steps"]} title={`${words} steps ${hasEnded(status) ? "ran" : "have ended"}`}>
      <span className={styles["track"]} aria-hidden="true">
        <span className={classNames(styles["done"], styles[tone])} style={{ width: `${share * 100}%` }} />
      </span>
      {words}
    </span>
  );
}
