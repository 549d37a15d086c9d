import type { ClaimedJobTask } from "@svc/db/job-tasks/queue";
import type { AskContext } from "./context.ts";
import { runHop } from "./hop.ts";
import { runPublish, runWatch } from "./publish.ts";
import { runReach } from "./reach.ts";
import { readSubject } from "./task-subject.ts";

/** Handlers of the tasks of asks, by kind. */
export type AskHandlers = Readonly<Record<"hop" | "reach" | "publish", (task: ClaimedJobTask) => Promise<void>>>;

/**
 * Returns the handlers of ask tasks. Each handler ends or reschedules its task while it holds the task's lease (time-limited claim). If the
 * lease is lost, it writes nothing more. A handler rejects if the database, or a service that a tool call needs, is unavailable; the caller
 * then gives the task back.
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
