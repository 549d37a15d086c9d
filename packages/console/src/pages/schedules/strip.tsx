import { useQuery } from "@connectrpc/connect-query";
import { type StandingRun, StandingService } from "@svc/gen/standing";
import { classNames } from "../../ui/class-names.ts";
import { runWord } from "../../words/standing.ts";
import { labelOf } from "../../words/word.ts";
import styles from "./strip.module.css";

const lookMs = 10_000;
const shown = 20;

function useLastRuns(id: string) {
  return useQuery(
    StandingService.method.listStandingRuns,
    { standingProgramId: id, pageSize: shown },
    { refetchInterval: lookMs },
  );
}

/**
 * Draws the success rate of a schedule: among its last 20 runs, the percentage of finished jobs that succeeded. Draws nothing if no job has
 * finished.
 */
export function SuccessRate({ id }: { id: string }) {
  const ended = (useLastRuns(id).data?.runs ?? []).filter(({ jobStatus }) => jobStatus !== "");
  if (ended.length === 0) return null;
  const succeeded = ended.filter(({ jobStatus }) => jobStatus === "succeeded").length;
  return (
    <span title={`${succeeded} of the last ${ended.length} jobs succeeded`}>
      {Math.round((100 * succeeded) / ended.length)} %
    </span>
  );
}

/** Draws the last 20 runs of a schedule side by side. The newest run is on the right. */
export function Strip({ id }: { id: string }) {
  const list = useLastRuns(id);
  const runs = [...(list.data?.runs ?? [])].reverse();
  if (runs.length === 0) return <span className={styles["none"]}>{list.isSuccess ? "no runs yet" : ""}</span>;
  return (
    <span className={styles["strip"]} role="img" aria-label={stripWords(runs)} title={stripWords(runs)}>
      {runs.map((run) => (
        <span key={run.id} className={classNames(styles["run"], styles[runWord(run).tone])} />
      ))}
    </span>
  );
}

/** Returns the text alternative of the row of symbols that shows the last runs: the number of runs in each state. */
function stripWords(runs: readonly StandingRun[]): string {
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(labelOf(runWord(run)), (counts.get(labelOf(runWord(run))) ?? 0) + 1);
  return `Last ${runs.length} runs: ${[...counts].map(([word, count]) => `${count} ${word}`).join(", ")}`;
}
