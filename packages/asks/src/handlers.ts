import type { ClaimedJobTask } from "@svc/db/job-tasks/queue";
import type { AskContext } from "./context.ts";
import { runHop } from "./hop.ts";
import { runPublish, runWatch } from "./publish.ts";
import { runReach } from "./reach.ts";
import { readSubject } from "./task-subject.ts";

/** Handlers of the background tasks of asks (questions to people), by the kind of task. */
export type AskHandlers = Readonly<Record<"hop" | "reach" | "publish", (task: ClaimedJobTask) => Promise<void>>>;

/**
 * Returns the handlers of the tasks of asks (questions to people). A handler ends or reschedules its task during the task's lease (the time
 * in which only one node may work on it). If the lease is lost, the handler writes nothing more. It rejects if the database, or a service
 * that a tool call needs, is unavailable. The caller then returns the task to the queue.
 */
export function createAskHandlers(context: AskContext): AskHandlers {
  const handle = async (task: ClaimedJobTask) => {
    await run(context, task);
    context.onLogged(task.jobId);
    context.onDue();
  };
  return { hop: handle, reach: handle, publish: handle };
}

function run(context: AskContext, task: ClaimedJobTask): Promise<void> {
  const subject = readSubject(task);
  switch (subject.kind) {
    case "hop":
      return runHop(context, task, subject);
    case "reach":
      return runReach(context, task, subject);
    case "publish":
      return runPublish(context, task, subject);
    case "watch":
      return runWatch(context, task, subject);
  }
}
