import { isDeepStrictEqual } from "node:util";
import type { Ending, History, JobEnding } from "./history.ts";

/** An ending as a recording holds it beside the first: of each job only what is another there. */
export function shortened(ending: Ending, first: Ending): Ending {
  return { ...ending, jobs: ending.jobs.map((one, index) => shortenedJob(one, first.jobs[index])) };
}

function shortenedJob({ job, log }: JobEnding, first: JobEnding | undefined): JobEnding {
  const changed = Object.entries(job).filter(([name, value]) => !isDeepStrictEqual(value, first?.job[name]));
  return { job: Object.fromEntries(changed), log };
}

/** The whole of the ending that a run comes to from an entry. */
export function endingAt({ endings }: Pick<History, "endings">, { ending = 0 }: { readonly ending?: number }): Ending {
  const [first] = endings;
  const own = endings[ending];
  if (first === undefined || own === undefined) throw new Error(`the recording has no ending ${ending}`);
  return { ...own, jobs: own.jobs.map(({ job, log }, index) => ({ job: { ...first.jobs[index]?.job, ...job }, log })) };
}
