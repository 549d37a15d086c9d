import type { Executor } from "../connect.ts";
import { jobTasks } from "../schema/jobs.ts";
import { compose, query } from "../sql/compose.ts";
import { type FirstLease, leasedTaskRow, leasedTaskRows, type NewJobTask } from "./task.ts";

/** A task that is there already is due at the earlier of the two times, and keeps its lease. */
const putTasks = compose(
  "put_job_tasks",
  { tasks: leasedTaskRows },
  ({ tasks }) => query`${tasks.insertInto(jobTasks)}
    on conflict (job_id, kind, subject) do update set due_at = least(job_tasks.due_at, excluded.due_at)`,
);

/** Makes tasks due, held under `lease` where one is given. One that is there keeps its lease and takes the earlier time. */
export async function putJobTasks(db: Executor, tasks: readonly NewJobTask[], lease?: FirstLease): Promise<void> {
  if (tasks.length > 0) await putTasks(db, { tasks: tasks.map((task) => leasedTaskRow(task, lease)) });
}
