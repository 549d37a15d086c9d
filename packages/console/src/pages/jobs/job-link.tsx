import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/values/copy.tsx";

/** Draws a link to the page of a job. Its text is the job's id in a short form. */
export function JobLink({ projectId, id }: { projectId: string; id: string }) {
  return (
    <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId: id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}

/** Draws a link to the page of a schedule. */
export function ScheduleLink({ projectId, id, words = id }: { projectId: string; id: string; words?: string }) {
  return (
    <Link to="/p/$projectId/schedules/$scheduleId" params={{ projectId, scheduleId: id }} title={id}>
      <code>{words}</code>
    </Link>
  );
}
